### Ein Ergebnis löschen.

delete_incomplete = Dieser Link ist nicht vollständig
delete_incomplete_why = Ein Löschlink endet mit # und einem Geheimnis, das einmal gezeigt wurde, als das Ergebnis
    hochgeladen wurde. Ohne das Geheimnis lässt sich ein Ergebnis hier nicht löschen.
delete_deleting = Wird gelöscht …
delete_done = Das Ergebnis ist gelöscht.
delete_refused = Nicht gelöscht: { $reason }
delete_title = Ein Ergebnis löschen
delete_explanation = Damit verschwindet das Ergebnis { $result } aus der Bestenliste und den offenen Daten. Das
    lässt sich nicht rückgängig machen. Dateien früherer Tage, die manche Server anbieten, enthalten es noch
    höchstens eine Woche, und Kopien, die andere gemacht haben, gehören ihnen.
