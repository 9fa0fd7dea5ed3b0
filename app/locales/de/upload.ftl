### Ein Ergebnis hochladen, und die Läufe, die dieser Browser aufbewahrt.

upload_unregistered = Dieser Lauf bekam keinen Seed vom Server: Der Server war beim Start nicht erreichbar, oder der
    Seed wurde von Hand gewählt. Jetzt hochgeladen, gilt das Ergebnis als ungeprüft und wird nicht gewertet;
    gewertet wird ein neuer Lauf.
upload_title = In die Bestenliste eintragen
upload_note = Sendet genau das JSON unten und sonst nichts. Dafür gibt es einen Link, der es wieder löscht.
upload_open_data = Hochgeladene Ergebnisse sind offene Daten unter { $licence }: Alle dürfen sie lesen, kopieren und
    veröffentlichen. Der Löschlink entfernt dieses jederzeit aus der Bestenliste und ihren Daten.
upload_refused = Nicht hochgeladen: { $reason }. Das Ergebnis bleibt unter „Eigene Läufe“ für später.
upload_permalink = Dauerlink
upload_deletion_link = Löschlink
upload_copy_deletion_link = Löschlink kopieren
upload_deletion_note = Wer den Löschlink hat, kann dieses Ergebnis löschen. Er steht nur hier und wird in diesem
    Browser gemerkt.
upload_own_title = Eigene Läufe
upload_own_note = Nur in diesem Browser aufbewahrt. Was hochgeladen ist, lässt sich von hier aus löschen.
upload_came_to = Ergebnis
upload_result = Ergebnis
upload_delete_there = Dort löschen
upload_not_uploaded = Nicht hochgeladen: { $reason }
upload_done = Hochgeladen.
upload_now = Jetzt hochladen
upload_no_record = Das Protokoll ist nicht mehr aufbewahrt.
upload_forget = Vergessen
