### Ein Ergebnis, wie seine eigene Seite und das Ende eines Laufs es zeigen.

## Der Ausgang eines Netzes

result_test_accuracy = { $accuracy } Testgenauigkeit
result_test_loss = Testverlust { $loss }
result_target_reached = { $target } nach { $seconds } Training
result_target_missed = Ziel von { $target } in { $seconds } nicht erreicht
result_published_part = { $workload }: { $part } des Tempos von { $device } mit { $framework } (veröffentlicht:
    { $citation })
result_published_times = { $workload }: das { $times }-Fache des Tempos von { $device } mit { $framework }
    (veröffentlicht: { $citation })
result_published_time = { $device } mit { $framework } brauchte { $seconds } für einen Durchgang durch die Daten: das
    { $times }-Fache der Zeit dieses Geräts. Veröffentlicht: { $citation }.

## Die Seite

result_rank = Schneller als { $share } von { $devices } Geräten
result_this_run = Dieser Lauf
result_details = Einzelheiten
result_score_meaning = Die Rechenleistung, die das Training brauchte: das geometrische Mittel über die Netze der Suite.
result_as_listed = Die Uhr der Bestenliste begrenzt das Tempo. Bei belegten Läufen hat die Bestenliste auch die
    Genauigkeit gemessen.
result_all_figures = Ergebnisse
result_how_made = Einzelheiten zum Lauf
result_published = Vergleich mit veröffentlichten Ergebnissen
result_worth_knowing = Hinweise
result_non_standard = Kein Standardlauf, daher angezeigt, aber nie gewertet: { $reasons }.
result_interface = Schnittstelle
result_started = Gestartet
result_evidence = Nachweis
result_training_of = { $workload }: { $steps } Schritte mit Batchgröße { $batch } in { $precision }, Lernrate
    { $rate }, { $samples } Beispiele, { $windows } gewertete Fenster
result_checked = { $mark } { $workload }: mit dem Referenz-Backend verglichen, in Batches der Größe { $batch } (größte
    relative Abweichung eines Verlusts { $difference }, erlaubt { $allowed }){ $more }; die Verluste der ersten
    { $steps } Schritte und { $weights } Gewichte vom Ende sind gespeichert
result_whole = , und Batches der Größe { $batch } mit denselben Beispielen in Batches der Größe { $part } (die
    Gradienten weichen um { $difference } ab, erlaubt { $allowed })
result_uploaded_on = { $client } unter { $system }, hochgeladen am { $day }.
result_not_shown = Das lässt sich nicht anzeigen
result_delete = Dieses Ergebnis löschen
result_yours = Ergebnis dieses Laufs
result_stays = Diese Demonstration lief auf dem Prozessor. Sie bleibt auf dieser Seite und wird nicht hochgeladen.
result_not_provable = Ergebnisse anderer Frameworks bleiben auf dieser Seite: Die Bestenliste kann sie weder belegen
    noch werten.
result_json = JSON ansehen
result_file_explanation = Dateien, die von dieser Seite heruntergeladen oder von native-runner geschrieben wurden,
    hierher ziehen oder auswählen. Sie werden in diesem Browser angezeigt und nirgendwohin gesendet.
result_of_file = Aus der Datei { $name }, ungeprüft.
result_file_not_shown = { $name } ist kein lesbares Ergebnis: { $reason }.
