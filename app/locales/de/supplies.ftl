### Was der Server für Läufe hat.

supplies_and = { $some } und { $other }
supplies_lacking = { $few } der { $all } Netze brauchen Daten, die auf diesem Server fehlen ({ $data }).
supplies_missing = { $data } fehlt auf diesem Server; er sagt auf Englisch: „{ $reason }“. { $needed } der { $all }
    Netze brauchen die Daten und lassen sich hier bis dahin nicht trainieren.
supplies_data_missing = Daten fehlen
supplies_needs = { $who } braucht { $data }; das fehlt auf diesem Server. Andere Netze wählen.
supplies_burn_building = Burn { $why }. Sobald es fertig ist, lässt es sich hier wählen.
supplies_burn_ready = Burn ist fertig und lässt sich als Rechenkern wählen oder mit anderen Backends vergleichen.
supplies_burn_missing = Burn { $why }.
