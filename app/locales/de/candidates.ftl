### Womit sich ein Ergebnis oder Gerät vergleichen lässt.

candidates_find_run = Mit anderen Ergebnissen vergleichen: Wörter eines Gerätenamens oder ein Link
candidates_find_device = Mit anderen Geräten vergleichen: Wörter eines Namens oder ein Link
candidates_found = Gefunden; bis zu drei lassen sich wählen
candidates_speed = { $rate } Beispiele pro Sekunde
candidates_refused = Die Suche geht gerade nicht: { $reason }.
candidates_run_itself = Das ist dieses Ergebnis selbst.
candidates_device_itself = Das ist dieses Gerät selbst.
candidates_no_run = Ein gefundenes Ergebnis wählen oder einen Link zu einem Ergebnis einfügen; dies ist keiner.
candidates_no_device = Ein gefundenes Gerät wählen oder einen Link zu einem Gerät einfügen; dies ist keiner.
