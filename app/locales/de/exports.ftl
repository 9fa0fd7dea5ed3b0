### Die Auswahl der Bestenliste als Dateien.

exports_label = Dateien
exports_of_runs = Diese Ergebnisse, alle, als Datei:
exports_of_devices = Die belegten Läufe hinter diesen Plätzen als Datei:
