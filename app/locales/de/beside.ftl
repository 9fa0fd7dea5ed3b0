### Gespeicherte Ergebnisse oder Geräte nebeneinander.

beside_title = Nebeneinander
beside_choose = Ein Ergebnis oder ein Gerät öffnen und dort auswählen, womit es verglichen werden soll.
beside_nothing = Keine zwei haben Ergebnisse für dasselbe Netz, daher gibt es nichts zu vergleichen.
beside_explanation = × ist der Durchsatz geteilt durch den der ersten Spalte. „Gleichauf“ heißt gleich bis auf ein
    Zehntel. „Offen“ heißt, dass sich die Intervalle überschneiden und zu breit sind: Es braucht mehr Fenster oder Läufe.
beside_differs = Weitere Unterschiede
beside_faster = schneller
beside_slower = langsamer
beside_tied = gleichauf
beside_undecided = offen
