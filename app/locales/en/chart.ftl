### Charts.

chart_loss = Training loss
chart_accuracy = Accuracy
chart_loss_described = The training loss went from { $first } to { $last } in { $seconds } s of training.
chart_no_training = No training yet.
chart_both_described = Training accuracy { $training }, test accuracy { $test }.
chart_training_described = Training accuracy { $training }; not tested yet.
chart_training_label = train { $value }
chart_test_label = test { $value }
chart_training = training
chart_test = test
chart_now = Now { $rate }.
chart_end = { $curve } ends at { $value } after { $seconds } s
chart_over_seconds = over seconds of training
chart_no_drawing = the page has no drawing
chart_data_of = Data of the chart “{ $chart }”
chart_data = Data
chart_data_label = Data: { $chart }
chart_curve = Curve
chart_seconds = Seconds of training
chart_described = { $chart }. { $description }
chart_target = target { $value }
chart_published = published
chart_published_end = published { $value }
