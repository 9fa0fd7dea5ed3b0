### Die Spalten der Tabelle der Läufe.

columns_title = Spalten
columns_legend = Von jedem Ergebnis gezeigt
