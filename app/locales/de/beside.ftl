### Gespeicherte Ergebnisse oder Geräte nebeneinander.

beside_title = Nebeneinander
beside_choose = Ein Ergebnis oder ein Gerät öffnen und dort wählen, was daneben stehen soll.
beside_not_shown = Diese lassen sich nicht vergleichen
beside_nothing = Keine zwei von ihnen haben ein Ergebnis desselben Netzes; es gibt also nichts zu vergleichen.
beside_not_said = keine Angabe
beside_explanation = × ist ein Durchsatz geteilt durch den ersten. „Gleichauf“ heißt gleich bis auf ein Zehntel,
    „offen“, dass sich die Bereiche überschneiden und dafür zu weit sind: Mehr Fenster oder Läufe entscheiden es.
beside_differs = Was sich sonst unterscheidet
beside_faster = schneller
beside_slower = langsamer
beside_tied = gleichauf
beside_undecided = offen
