### Die Spalten der Tabelle der Läufe.

columns_title = Spalten
columns_legend = Von jedem Ergebnis gezeigt
columns_batch_size = Batchgröße
columns_precision = Genauigkeit der Zahlen
columns_program = Programm
columns_tier = Geprüft
columns_day = Tag
