### Die Spalten der Tabelle der Läufe.

columns_title = Spalten
