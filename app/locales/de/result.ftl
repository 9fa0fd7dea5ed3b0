### Ein Ergebnis, wie seine eigene Seite und das Ende eines Laufs es zeigen.

## Die großen Zahlen, und dasselbe als Satz

result_time_to = Zeit bis { $target }
result_trained = Trainiert
result_too_short = in { $seconds }: zu kurz für einen Durchsatz
result_best_in = Bestwert in { $seconds }
result_of_target = von { $target } (Ziel)
result_samples_in = { $samples } in { $seconds }
result_test_accuracy = { $accuracy } Testgenauigkeit
result_target_reached = { $target } nach { $seconds } Training
result_target_missed = Ziel von { $target } in { $seconds } nicht erreicht
result_published_fast = { $device } mit { $framework } brauchte { $seconds } für einen Durchgang durch die Daten;
    dieses Gerät ist { $times }-mal so schnell. Veröffentlicht: { $citation }.
result_published_slow = { $device } mit { $framework } brauchte { $seconds } für einen Durchgang durch die Daten;
    dieses Gerät braucht { $times }-mal so lange. Veröffentlicht: { $citation }.

## Die Seite

result_came_to = Ergebnis
result_as_listed = Die Uhr der Bestenliste begrenzt das Tempo. Bei belegten Läufen misst sie die Genauigkeit selbst.
result_all_figures = Alle Messwerte
result_how_made = Wie es entstand
result_published = Neben dem, was zu diesen Netzen veröffentlicht wurde
result_worth_knowing = Gut zu wissen
result_non_standard = Kein Standardlauf, daher angezeigt, aber nie gewertet: { $reasons }.
result_device_reported = Gerät laut System
result_device_claimed = Gerät laut Besitzer
result_interface = Schnittstelle
result_kernels = Kernel
result_kernels_of = Backend { $backend }
result_program_on = { $name } { $version } unter { $system }
result_commit = { $version }, Commit { $commit }
result_started = Gestartet
result_evidence = Nachweis
result_training_of = { $workload }: { $steps } Schritte mit Batchgröße { $batch } in { $precision }, Lernrate
    { $rate }, { $samples } Beispiele, { $windows } gewertete Fenster
result_agrees = { $workload }: stimmt bei Batches der Größe { $batch } mit dem Referenz-Backend überein (größte
    relative Abweichung eines Verlusts { $difference }, erlaubt { $allowed }){ $more }; die Verluste der ersten
    { $steps } Schritte und { $weights } Gewichte vom Ende sind aufbewahrt
result_disagrees = { $workload }: stimmt bei Batches der Größe { $batch } nicht mit dem Referenz-Backend überein
    (größte relative Abweichung eines Verlusts { $difference }, erlaubt { $allowed }){ $more }; die Verluste der
    ersten { $steps } Schritte und { $weights } Gewichte vom Ende sind aufbewahrt
result_redrawn = , mit anderen als den ersten Beispielen, weil dort allein die Rundung entschied, was verglichen wurde
result_whole = , und seine Batches der Größe { $batch } mit denselben Beispielen in Batches der Größe { $part } (die
    Gradienten weichen um { $difference } ab, erlaubt { $allowed })
result_title_of = { $device }, ein Ergebnis
result_software_note = Ein Software-Adapter: angezeigt, nicht gewertet.
result_uploaded_on = { $client } unter { $system }, hochgeladen am { $day }.
result_not_shown = Dieses Ergebnis lässt sich nicht anzeigen
result_delete = Dieses Ergebnis löschen
result_demonstration = Vorführung auf dem Prozessor
result_yours = Das Ergebnis
result_stays = Eine Vorführung bleibt auf dieser Seite; sie wird nicht hochgeladen.
result_not_provable = Was ein anderes Framework trainiert hat, bleibt auf dieser Seite: Eine Bestenliste kann es
    nicht belegen und wertet nichts davon.
result_results = Ergebnisse
result_json = Genaues JSON
result_picture = Bild dieses Ergebnisses
result_copy_picture = Adresse des Bildes kopieren
result_badge = Abzeichen
result_copy_badge = Adresse des Abzeichens kopieren
result_share = Teilen …
result_not_shared = Nicht geteilt: { $reason }.
result_copy = Ergebnis kopieren
result_file_explanation = Dateien, die von dieser Seite heruntergeladen oder von native-runner geschrieben wurden,
    hierher ziehen oder auswählen. Sie werden in diesem Browser angezeigt und nirgendwohin gesendet.
result_files = Ergebnisdateien
result_no_result = das ist kein Ergebnis von Gradmark: { $error }
result_of_file = Aus der Datei { $name }, nach ihrer eigenen Auskunft: Niemand hat sie geprüft.
result_file_not_shown = { $name } lässt sich nicht anzeigen: { $reason }.
