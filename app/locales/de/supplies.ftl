### Was der Server für Läufe hat.

supplies_lacking = { $few } der { $all } Netze brauchen Daten, die auf diesem Server fehlen ({ $data }).
supplies_missing = { $data } fehlt auf diesem Server (auf Englisch: „{ $reason }“). { $needed } der { $all } Netze
    brauchen diese Daten und lassen sich hier bis dahin nicht trainieren.
supplies_data_missing = Daten fehlen
supplies_needs = { $who } braucht { $data }. Diese Daten fehlen auf diesem Server; bitte andere Netze wählen.
supplies_burn_ready = Burn ist bereit.
