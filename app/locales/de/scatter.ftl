### Ergebnisse eines Netzes als Punkte.

scatter_title = Durchsatz und Zeit bis zur Genauigkeit
scatter_left_out = { $number ->
    [one] { $number } aufgelistetes Ergebnis hat keinen Punkt: Es hat die Genauigkeit nicht erreicht oder keinen stabilen Durchsatz.
   *[other] { $number } aufgelistete Ergebnisse haben keinen Punkt: Sie haben die Genauigkeit nicht erreicht oder keinen stabilen Durchsatz.
 }
scatter_hint = Ein Ergebnis mit der Maus oder der Tastatur ansteuern, um seinen Namen zu sehen. Auswählen öffnet es.
scatter_over = über Sekunden Training bis zur Zielgenauigkeit, beides logarithmisch
scatter_point = { $device }, { $backend }: { $rate } Beispiele pro Sekunde, genau nach { $seconds }
scatter_described = { $number ->
    [one] { $number } Ergebnis. Am schnellsten: { $fastest }. Am frühesten genau: { $soonest }.
   *[other] { $number } Ergebnisse. Am schnellsten: { $fastest }. Am frühesten genau: { $soonest }.
 }
