### Charts.

chart_loss = Training loss
chart_accuracy = Accuracy
chart_bits = Bits per character
chart_loss_described = The training loss went from { $first } to { $last } in { $seconds } s of training.
chart_no_training = No training yet.
chart_training = training
chart_test = test
chart_over_seconds = over seconds of training
chart_data = Data
chart_curve = Curve
chart_seconds = Seconds of training
chart_target = target { $value }
chart_published = published
chart_reached = { $target } after { $seconds }
