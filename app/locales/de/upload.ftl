### Ein Ergebnis hochladen, und die Läufe, die dieser Browser aufbewahrt.

upload_unregistered = Dieser Lauf bekam keinen Seed von der Bestenliste: Sie war beim Start nicht erreichbar, oder der
    Seed wurde von Hand gewählt. Hochgeladen gilt das Ergebnis als ungeprüft und wird nicht gewertet. Gewertet wird
    ein neuer Lauf.
upload_title = In die Bestenliste hochladen
upload_note = Sendet genau das JSON unten. Dafür gibt es einen Link zum Löschen.
upload_open_data = Hochgeladene Ergebnisse sind offene Daten unter { $licence }: Alle dürfen sie lesen, kopieren und
    veröffentlichen. Der Löschlink entfernt dieses Ergebnis jederzeit aus der Bestenliste und ihren Daten.
upload_refused = Nicht hochgeladen: { $reason }. Das Ergebnis bleibt unter „Eigene Läufe“.
upload_permalink = Dauerlink
upload_deletion_link = Löschlink
upload_deletion_note = Wer den Löschlink hat, kann dieses Ergebnis löschen. Der Link wird nur hier angezeigt und in
    diesem Browser gespeichert.
upload_own_title = Eigene Läufe
upload_own_note = Nur in diesem Browser gespeichert. Hochgeladene Läufe lassen sich hier löschen.
upload_result = Ergebnis
upload_now = Jetzt hochladen
upload_no_record = Das Protokoll ist nicht mehr gespeichert.
upload_forget = Vergessen
