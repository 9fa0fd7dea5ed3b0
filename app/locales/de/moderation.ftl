### Was die Moderation getan hat.

moderation_hidden = Verborgen
moderation_flagged = Als auffällig markiert, daher nicht gewertet
moderation_restored = Wiederhergestellt: wieder { $tier }
moderation_restored_other = Wiederhergestellt: wieder in einer anderen Stufe
moderation_set_tier = Auf { $tier } gesetzt
moderation_set_other_tier = In eine andere Stufe gesetzt
moderation_removed = Endgültig gelöscht
moderation_merged = Zusammengelegt: das eine zählt als das andere
moderation_separated = Getrennt: jedes zählt wieder für sich
moderation_title = Was die Moderation getan hat
moderation_explanation = Die Bestenliste beurteilt Läufe nach Regeln. Wo ihre Betreiber einen Lauf trotzdem
    verbergen oder markieren oder zwei Geräte zusammenlegen, steht es hier mit dem Grund und bleibt auch stehen,
    wenn der Lauf gelöscht wird.
moderation_not_shown = Das Protokoll lässt sich nicht anzeigen: { $reason }.
moderation_nothing = Noch nichts: Jeder Lauf und jedes Gerät ist, wie die Regeln es vorsehen.
moderation_log = Moderationsprotokoll
moderation_what = Was getan wurde
moderation_to_what = Womit
moderation_why = Warum
moderation_run = Lauf { $id }
moderation_gone = nicht mehr angezeigt
moderation_and = und { $device }
moderation_no_reason = Kein Grund genannt
