### Departures of a run from its suite.

departure_batch_size = batch size { $size }
departure_computed_in = computed in { $precision }
departure_devices = { $count } devices
departure_fitted_batch = { $workload } in batches of { $size } instead of { $usual }
departure_input = input { $mode }
departure_layout = layout { $layout }
departure_learning_rate = learning rate { $rate }
departure_logical_devices = { $count } logical devices on one software adapter
departure_network_file = { $workload } is a network from a file ({ $digest })
departure_networks = { $some } of the suite's { $all } networks
departure_not_of_suite = networks that are not in the suite
departure_overlap_off = overlap off
departure_overlap_on = overlap on
departure_program = trained by the external program { $program }
departure_reference = the reference back end is not ranked
departure_seconds = { $number } s of training
departure_target = target accuracy { $target }
departure_without = without { $feature }
