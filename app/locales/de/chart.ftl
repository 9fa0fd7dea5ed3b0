### Diagramme.

chart_loss = Trainingsverlust
chart_accuracy = Genauigkeit
chart_loss_described = Der Trainingsverlust ging in { $seconds } s Training von { $first } auf { $last }.
chart_no_training = Noch kein Training.
chart_both_described = Trainingsgenauigkeit { $training }, Testgenauigkeit { $test }.
chart_training_described = Trainingsgenauigkeit { $training }; noch nicht getestet.
chart_training_label = Training { $value }
chart_test_label = Test { $value }
chart_training = Training
chart_test = Test
chart_now = Jetzt { $rate }.
chart_end = { $curve } endet bei { $value } nach { $seconds } s
chart_over_seconds = über Sekunden Training
chart_no_drawing = es gibt keine Zeichnung
chart_data_of = Daten des Diagramms „{ $chart }“
chart_data = Daten
chart_data_label = Daten: { $chart }
chart_curve = Kurve
chart_seconds = Sekunden Training
chart_described = { $chart }. { $description }
chart_target = Ziel { $value }
chart_published = veröffentlicht
chart_published_end = veröffentlicht { $value }
