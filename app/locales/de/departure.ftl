### Warum ein Lauf kein Standardlauf ist, wie es im Protokoll steht.

departure_batch_size = Batchgröße { $size }
departure_learning_rate = Lernrate { $rate }
departure_epochs = { $number } Epochen
departure_steps = { $number } Schritte
departure_seconds = { $number } s Training
departure_target = Zielgenauigkeit { $target }
departure_networks = { $some } der { $all } Netze der Suite
departure_not_of_suite = Netze, die nicht zur Suite gehören
departure_computed_in = gerechnet in { $precision }
departure_reference = das Referenz-Backend urteilt und tritt nicht an
departure_program = trainiert vom externen Programm { $program }
departure_without = ohne { $feature }
