### Ergebnisse eines Netzes als Punkte.

scatter_title = Durchsatz und Zeit bis zum Ziel
scatter_left_out = { $number ->
    [one] { $number } aufgelistetes Ergebnis hat keinen Punkt: Es hat das Ziel nicht erreicht oder keinen stabilen Durchsatz.
   *[other] { $number } aufgelistete Ergebnisse haben keinen Punkt: Sie haben das Ziel nicht erreicht oder keinen stabilen Durchsatz.
 }
scatter_hint = Ein Ergebnis mit der Maus oder der Tastatur ansteuern, um seinen Namen zu sehen. Auswählen öffnet es.
scatter_over = über Sekunden Training bis zum Ziel, beides logarithmisch
scatter_point = { $device }, { $backend }: { $rate } Beispiele pro Sekunde, am Ziel nach { $seconds }
scatter_described = { $number ->
    [one] { $number } Ergebnis. Am schnellsten: { $fastest }. Am frühesten am Ziel: { $soonest }.
   *[other] { $number } Ergebnisse. Am schnellsten: { $fastest }. Am frühesten am Ziel: { $soonest }.
 }
