### Ergebnisse eines Netzes als Punkte.

scatter_title = Durchsatz und Zeit bis zur Genauigkeit
scatter_open = Durchsatz und Zeit bis zur Genauigkeit als Bild
scatter_listed = Von den Ergebnissen darunter, soweit sie aufgelistet sind.
scatter_left_out = { $number ->
    [one] { $number } aufgelistetes Ergebnis hat keinen Punkt: Es war nie so genau oder hat keinen steten Durchsatz.
   *[other] { $number } aufgelistete Ergebnisse haben keinen Punkt: Sie waren nie so genau oder haben keinen steten Durchsatz.
 }
scatter_hint = Zeiger oder Tastatur auf einem Punkt zeigt seinen Namen; er führt zum Ergebnis.
scatter_over = über Sekunden Training bis zur Zielgenauigkeit, beides logarithmisch
scatter_point = { $device }, { $backend }: { $rate } Beispiele pro Sekunde, genau nach { $seconds }
scatter_described = { $number ->
    [one] { $number } Ergebnis. Das schnellste: { $fastest }. Das früheste: { $soonest }.
   *[other] { $number } Ergebnisse. Das schnellste: { $fastest }. Das früheste: { $soonest }.
 }
scatter_nothing = Kein Ergebnis hat beide Zahlen.
