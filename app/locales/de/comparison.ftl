### Geteilte Vergleiche von Backends.

comparison_title = Vergleich von Backends
comparison_lead = { $device }, in { $client }, geteilt am { $day }. Der Vergleich wurde nicht geprüft; seine Läufe
    stehen nur hier und werden nicht gewertet.
comparison_untrained = Hat nicht trainiert (auf Englisch: „{ $reason }“).
comparison_own = Auf dem eigenen Gerät vergleichen
comparison_share_title = Diesen Vergleich teilen
comparison_share_note = Sendet genau die Läufe aus der JSON-Datei. Der Vergleich bekommt eine eigene Seite für alle,
    die den Link haben. Er zählt nicht als Ergebnis und wird nicht gewertet. Ein Link zum Löschen wird danach
    angezeigt.
comparison_not_shared = Nicht hochgeladen: { $reason }.
comparison_deletion_note = Wer den Löschlink hat, kann den Vergleich löschen. Der Link wird nur hier angezeigt und in
    diesem Browser gespeichert.
comparison_delete_what = Das entfernt den Vergleich von der Bestenliste. Es lässt sich nicht rückgängig machen und
    löscht keine Kopien, die andere gemacht haben.
comparison_delete = Diesen Vergleich löschen
comparison_deleted = Der Vergleich ist gelöscht.
