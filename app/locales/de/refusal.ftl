### Was der Server ablehnt, nach seinen Codes. Was hier keinen Text hat, steht in den Worten des Servers da.

refusal_unreachable = der Server ist nicht erreichbar: { $reason }
refusal_unexpected = der Server hat mit etwas geantwortet, das nicht von der Bestenliste stammt (Status { $status })
refusal_other = { $message } ({ $code })
refusal_at_field = { $message } ({ $code }, bei { $field })
refusal_unknown_run = Einen Lauf mit dieser Kennung gibt es hier nicht. Vielleicht wurde er gelöscht, oder der Link
    ist unvollständig.
refusal_unknown_comparison = Einen Vergleich mit dieser Kennung gibt es hier nicht. Vielleicht wurde er gelöscht, oder der Link ist
    unvollständig.
refusal_unknown_device = Ein Gerät mit diesem Schlüssel gibt es hier nicht. Vielleicht wurden seine Ergebnisse
    gelöscht.
refusal_busy = Der Server hat gerade zu viel zu tun. In einigen Sekunden noch einmal versuchen.
refusal_too_many_requests = Von dieser Adresse kam so viel, dass der Server um Geduld bittet. In einer Minute noch
    einmal versuchen.
refusal_read_only = Der Server nimmt im Moment nichts Neues an. Später noch einmal versuchen.
refusal_too_large = Das Protokoll ist größer, als der Server annimmt.
refusal_already_submitted = Dieser Lauf wurde schon hochgeladen.
refusal_wrong_secret = Das Geheimnis dieses Löschlinks passt nicht zum Ergebnis. Den ganzen Link kopieren.
refusal_bad_name = Der angegebene Name ist so nicht möglich: höchstens 80 gewöhnliche Zeichen.
