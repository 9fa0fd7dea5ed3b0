### Why a run is not standard, as the engine writes it into the record.

departure_batch_size = batch size { $size }
departure_learning_rate = learning rate { $rate }
departure_epochs = { $number } epochs
departure_steps = { $number } steps
departure_seconds = { $number } s of training
departure_target = target accuracy { $target }
departure_networks = { $some } of the suite's { $all } networks
departure_not_of_suite = networks that are not of the suite
departure_computed_in = computed in { $precision }
departure_reference = the reference back end judges and does not compete
departure_program = trained by the external program { $program }
departure_without = without { $feature }
