### Diagramme.

chart_loss = Trainingsverlust
chart_accuracy = Genauigkeit
chart_bits = Bits pro Zeichen
chart_loss_described = Der Trainingsverlust ging in { $seconds } s Training von { $first } auf { $last }.
chart_no_training = Noch kein Training.
chart_training = Training
chart_test = Test
chart_over_seconds = über Sekunden Training
chart_data = Daten
chart_curve = Kurve
chart_seconds = Sekunden Training
chart_target = Ziel { $value }
chart_published = veröffentlicht
chart_reached = { $target } nach { $seconds }
