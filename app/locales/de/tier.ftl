### Wie weit einem Ergebnis zu trauen ist.

tier_proven = belegt
tier_checked = geprüft
tier_unverified = ungeprüft
tier_flagged = markiert
tier_hidden = verborgen
tier_verifying = wird geprüft
tier_proven_meaning = Die Bestenliste hat die Zeit des Trainings selbst gemessen und zufällige Teile nachgerechnet.
tier_checked_meaning = Das Protokoll hat alle Prüfungen bestanden, ließ sich aber nicht ganz belegen. Deshalb wird es
    nicht gewertet.
tier_unverified_meaning = Dieser Lauf bekam keinen Seed von der Bestenliste und lässt sich daher nicht prüfen.
tier_flagged_meaning = Etwas ist nicht plausibel; ein Mensch sieht es sich an.
tier_hidden_meaning = Dieses Ergebnis steht nicht in der Tabelle.
tier_verifying_meaning = Die Bestenliste rechnet Teile des Trainings nach; das dauert einige Sekunden.
