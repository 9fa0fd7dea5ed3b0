### Ein Ergebnis löschen.

delete_incomplete = Dieser Link ist nicht vollständig
delete_incomplete_why = Ein Löschlink endet mit # und einem Geheimnis, das nur einmal beim Hochladen angezeigt wurde.
    Ohne das Geheimnis lässt sich das Ergebnis hier nicht löschen.
delete_deleting = Wird gelöscht …
delete_done = Das Ergebnis ist gelöscht.
delete_refused = Nicht gelöscht: { $reason }
delete_explanation = Das Ergebnis { $result } wird aus der Bestenliste und den offenen Daten entfernt. Das lässt sich
    nicht rückgängig machen. Tagesdateien, die manche Bestenlisten anbieten, enthalten es noch höchstens eine Woche.
    Kopien, die andere gemacht haben, bleiben bestehen.
