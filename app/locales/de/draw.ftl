### Das eben trainierte Netz ausprobieren.

draw_title = Eine Ziffer zeichnen
draw_title_images = Das Netz ausprobieren
draw_network = Es antwortet { $network }, eben in diesem Tab trainiert.
draw_here = Hier zeichnen
draw_clear = Löschen
draw_answer = Das Netz sieht: { $class } ({ $percent }).
draw_probabilities = Wahrscheinlichkeiten
draw_examples = Testbilder
