### Die Auswahl der Bestenliste als Dateien.

exports_label = Dateien
exports_of_runs = Die Ergebnisse hinter dieser Tabelle herunterladen:
