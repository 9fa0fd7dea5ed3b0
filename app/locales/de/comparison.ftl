### Geteilte Vergleiche von Backends.

comparison_title = Vergleich von Backends
comparison_lead = { $device }, in { $client }, geteilt am { $day }. Niemand hat ihn geprüft: Seine Läufe stehen nur hier und haben keinen Platz in der Bestenliste.
comparison_untrained = Hat nicht trainiert (auf Englisch: „{ $reason }“).
comparison_refused = Dieser Vergleich lässt sich nicht zeigen
comparison_own = Auf dem eigenen Gerät vergleichen
comparison_share_title = Diesen Vergleich teilen
comparison_share = Vergleich hochladen
comparison_share_note = Sendet die Läufe, die „Als JSON herunterladen“ enthält, und sonst nichts; der Vergleich bekommt eine eigene Seite für alle, die den Link haben. Er ist kein Ergebnis, hat keinen Platz in der Bestenliste, und ein Link zum Löschen kommt zurück.
comparison_not_shared = Nicht hochgeladen: { $reason }.
comparison_shared = Er ist hochgeladen.
comparison_permalink = Seite des Vergleichs
comparison_deletion = Link zum Löschen
comparison_deletion_note = Wer den Link zum Löschen hat, kann ihn löschen. Er wird nur hier gezeigt und in diesem Browser gemerkt.
comparison_delete_title = Einen Vergleich löschen
comparison_delete_what = Das entfernt den Vergleich von der Bestenliste. Es lässt sich nicht zurücknehmen; Kopien, die andere gemacht haben, gehören ihnen.
comparison_delete = Diesen Vergleich löschen
comparison_deleted = Der Vergleich ist gelöscht.
