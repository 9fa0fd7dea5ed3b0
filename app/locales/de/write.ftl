### Einen Text mit dem eben trainierten Sprachmodell fortsetzen.

write_title = Einen Text fortsetzen
write_network = Es schreibt { $network }, eben in diesem Tab trainiert.
write_beginning = Anfang
write_temperature = Temperatur
write_temperature_note = Niedrig: die wahrscheinlichsten Zeichen. Hoch: mehr Überraschungen.
write_now = Fortsetzen
write_copy = Text und Ergebnis kopieren
write_shared = „{ $text }“ Geschrieben von einem Sprachmodell, das in einem Browser-Tab trainiert wurde. { $result }
