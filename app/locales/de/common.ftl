### Was mehrere Seiten sagen, und der Rahmen um alle.

common_skip = Zum Inhalt springen
common_pages = Seiten
common_compare = Vergleichen
common_leaderboard = Bestenliste
common_privacy = Ergebnisse werden nur hochgeladen, nachdem die genauen Daten zu sehen waren und mit einem Klick
    bestätigt wurden. Während des Trainings schickt die Seite der Bestenliste etwa jede Sekunde eine Prüfsumme. Am
    Ende berechnet sie einige zufällige Abschnitte neu und schickt einige Zustände, wenige Megabyte je Netz, um zu
    belegen, dass trainiert wurde. Weder Adressen noch User-Agent-Zeichenketten werden gespeichert, und hochgeladene
    Ergebnisse lassen sich löschen.
common_show_file = Ergebnisdatei anzeigen
common_nothing_here = Hier ist nichts
common_nothing_here_why = Vielleicht ist die Adresse falsch geschrieben, oder das Ergebnis wurde gelöscht.
common_to_start = Zur Startseite

## Auswahl am Ende jeder Seite

common_language = Sprache
common_colours = Farben
common_colours_system = Systemstandard
common_colours_light = Hell
common_colours_dark = Dunkel

## Wie ein Lauf endete

common_run_trained_nothing = Der Lauf hat nichts trainiert.
common_done = Fertig. { $figures }
common_samples = Beispiele
common_samples_counted = { $number ->
    [one] { $number } Beispiel
   *[other] { $number } Beispiele
 }
common_seeds = { $number ->
    [one] { $number } Seed
   *[other] { $number } Seeds
 }
common_epochs = { $number ->
    [one] { $number } Epoche
   *[other] { $number } Epochen
 }
common_steps = { $number ->
    [one] { $number } Schritt
   *[other] { $number } Schritte
 }
common_results = { $number ->
    [one] { $number } Ergebnis
   *[other] { $number } Ergebnisse
 }
common_results_more = Mehr als { $results }
common_proven_results = { $number ->
    [one] { $number } belegten Ergebnis
   *[other] { $number } belegten Ergebnissen
 }
common_proven_runs = { $number ->
    [one] { $number } belegter Lauf
   *[other] { $number } belegte Läufe
 }
common_on_devices = { $number ->
    [one] auf { $number } Gerät
   *[other] auf { $number } Geräten
 }
common_submitters = { $number ->
    [one] { $number } Einsender
   *[other] { $number } Einsender
 }
common_loss = Verlust { $loss }
common_loss_and_bits = { $loss } ({ $bits } Bits pro Zeichen)
common_loading = Wird geladen …
common_copied = Kopiert.
common_not_saved = Fehlgeschlagen: { $reason }.
common_scrollable = { $what }, verschiebbar
common_show_more = Mehr anzeigen
common_all_results = Alle Ergebnisse
common_all_devices = Alle Geräte
common_download = Herunterladen
common_copy = Kopieren
common_cancelling = Wird abgebrochen …
common_cancel = Abbrechen
common_upload = Hochladen
common_uploading = Wird hochgeladen …
common_uploaded = Hochgeladen
common_no_sharing = dieser Browser unterstützt das nicht

## Words of several pages

common_all_networks = Alle Netze
common_backend = Backend
common_batch_size = Batchgröße
common_browser = Browser
common_metric = Messwert
common_network = Netz
common_precision = Zahlenformat
common_program = Programm
common_rate = Beispiele pro Sekunde
common_seed = Seed
common_suite = Suite
common_too_short = zu kurz für eine Messung
common_training = Training
