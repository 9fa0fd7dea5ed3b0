### Why something could not be trained, as a part of a sentence. In English the engine says it best.

failure_out_of_memory = { $reason }
failure_device_refused = { $reason }
failure_data = { $reason }
failure_unsupported = { $reason }
failure_device_lost = { $reason }
failure_no_answer = { $reason }
failure_work_dropped = { $reason }
failure_no_adapter = { $reason }
failure_no_precision = { $reason }
failure_other = { $reason }
