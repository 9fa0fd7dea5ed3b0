### Was die Moderation getan hat.

moderation_restored = Wiederhergestellt
moderation_set_tier = Stufe geändert
moderation_removed = Endgültig gelöscht
moderation_merged = Zusammengelegt: Das erste zählt als das zweite
moderation_separated = Getrennt: Jedes zählt wieder für sich
moderation_explanation = Die Bestenliste beurteilt Läufe nach Regeln. Wenn ihre Betreiber selbst einen Lauf verbergen
    oder markieren oder zwei Geräte zusammenlegen, steht das hier mit dem Grund, auch nachdem der Lauf gelöscht wurde.
moderation_nothing = Noch nichts: Alle Läufe und Geräte folgen den Regeln.
moderation_log = Moderationsprotokoll
moderation_what = Aktion
moderation_to_what = Lauf oder Gerät
moderation_why = Grund
