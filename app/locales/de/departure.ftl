### Abweichungen eines Laufs von seiner Suite.

departure_batch_size = Batchgröße { $size }
departure_computed_in = gerechnet in { $precision }
departure_devices = { $count } Geräte
departure_fitted_batch = { $workload } in Batches von { $size } statt { $usual }
departure_input = Eingabe { $mode }
departure_layout = Bildformat { $layout }
departure_learning_rate = Lernrate { $rate }
departure_logical_devices = { $count } logische Geräte auf einem Software-Adapter
departure_network_file = { $workload } ist ein Netz aus einer Datei ({ $digest })
departure_networks = { $some } der { $all } Netze der Suite
departure_not_of_suite = Netze, die nicht zur Suite gehören
departure_overlap_off = Überlappung aus
departure_overlap_on = Überlappung an
departure_program = trainiert vom externen Programm { $program }
departure_reference = das Referenz-Backend wird nicht gewertet
departure_seconds = { $number } s Training
departure_target = Zielgenauigkeit { $target }
departure_without = ohne { $feature }
