### Warum etwas nicht trainiert werden konnte, als Teil eines Satzes; die Worte der Engine stehen dahinter.

failure_does_not_fit = dafür hat das Gerät zu wenig Speicher; eine kleinere Batchgröße braucht weniger (auf Englisch:
    „{ $reason }“)
failure_out_of_memory = dem Gerät fehlt Speicher; eine kleinere Batchgröße braucht weniger (auf Englisch: „{ $reason
    }“)
failure_device_refused = das Gerät oder sein Treiber hat die Arbeit abgelehnt (auf Englisch: „{ $reason }“)
failure_data = die Daten ließen sich nicht laden (auf Englisch: „{ $reason }“)
failure_unsupported = dieses Backend kann das Netz nicht so trainieren, wie es festgelegt ist (auf Englisch: „{
    $reason }“)
failure_device_lost = das Gerät ging verloren, vielleicht hat der Treiber es neu gestartet; noch einmal versuchen oder
    eine kleinere Batchgröße wählen (auf Englisch: „{ $reason }“)
failure_no_answer = das Gerät antwortet nicht mehr; den Browser schließen, neu starten und eine kleinere Batchgröße
    wählen (auf Englisch: „{ $reason }“)
failure_work_dropped = das Gerät meldet Arbeit als fertig, die es nicht getan hat; ein neuerer Treiber oder Browser
    hilft vielleicht (auf Englisch: „{ $reason }“)
failure_framework = das Framework hat einen Fehler gemeldet (auf Englisch: „{ $reason }“)
failure_no_adapter = der Browser bietet keine passende GPU an (auf Englisch: „{ $reason }“)
failure_no_precision = das Gerät rechnet nicht in dieser Genauigkeit (auf Englisch: „{ $reason }“)
failure_other = die Engine hat einen Fehler gemeldet (auf Englisch: „{ $reason }“)
