### Warum etwas nicht trainiert werden konnte, als Teil eines Satzes; die Worte der Engine stehen dahinter.

failure_out_of_memory = dem Gerät fehlt Speicher; eine kleinere Batchgröße braucht weniger (auf Englisch:
    „{ $reason }“)
failure_device_refused = das Gerät oder sein Treiber hat die Arbeit abgelehnt (auf Englisch: „{ $reason }“)
failure_data = die Daten ließen sich nicht laden (auf Englisch: „{ $reason }“)
failure_unsupported = dieses Backend kann das Netz nicht wie festgelegt trainieren (auf Englisch: „{ $reason }“)
failure_device_lost = die Verbindung zum Gerät ging verloren, vielleicht durch einen Neustart des Treibers; noch einmal
    versuchen oder eine kleinere Batchgröße wählen (auf Englisch: „{ $reason }“)
failure_no_answer = das Gerät antwortet nicht mehr; den Browser schließen, neu starten und eine kleinere Batchgröße
    wählen (auf Englisch: „{ $reason }“)
failure_work_dropped = das Gerät meldet Arbeit als erledigt, die es nicht ausgeführt hat; vielleicht hilft ein neuerer
    Treiber oder Browser (auf Englisch: „{ $reason }“)
failure_no_adapter = der Browser bietet keine passende GPU an (auf Englisch: „{ $reason }“)
failure_no_precision = das Gerät beherrscht dieses Zahlenformat nicht (auf Englisch: „{ $reason }“)
failure_other = ein Fehler ist aufgetreten (auf Englisch: „{ $reason }“)
