### Wie weit einem Ergebnis zu trauen ist.

tier_proven = belegt
tier_checked = geprüft
tier_unverified = ungeprüft
tier_flagged = auffällig
tier_hidden = verborgen
tier_verifying = wird nachgerechnet
tier_proven_meaning = Der Server hat das Training mit eigener Uhr verfolgt und zufällig gewählte Teile nachgerechnet.
tier_checked_meaning = Alle Grenzen und Zusammenfassungen stimmen, doch nicht alles ließ sich belegen; deshalb steht
    es außerhalb der Wertung.
tier_unverified_meaning = Dieser Lauf bekam vom Server keinen Seed und lässt sich daher nicht prüfen.
tier_flagged_meaning = Etwas ist nicht plausibel; ein Mensch sieht es sich an.
tier_hidden_meaning = Dieses Ergebnis steht nicht in der Tabelle.
tier_verifying_meaning = Der Server rechnet Teile des Trainings nach; das dauert einige Sekunden.
tier_log = Was die Moderation getan hat, steht im { $log }.
tier_log_link = Moderationsprotokoll
