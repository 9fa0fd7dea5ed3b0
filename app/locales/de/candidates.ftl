### Womit sich ein Ergebnis oder Gerät vergleichen lässt.

candidates_find = Mit anderen vergleichen: Teil eines Gerätenamens oder ein Link
candidates_found = Gefunden; bis zu drei auswählen
candidates_refused = Die Suche ist fehlgeschlagen: { $reason }.
candidates_itself = Das ist schon im Vergleich.
candidates_no_link = Etwas aus der Liste auswählen oder einen Link einfügen.
