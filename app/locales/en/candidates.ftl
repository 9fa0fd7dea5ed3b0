### What a result or a device can be put beside.

candidates_find_run = Compare with other results: part of a device’s name, or a link
candidates_find_device = Compare with other devices: part of a name, or a link
candidates_found = Found; choose up to three
candidates_speed = { $rate } samples per second
candidates_refused = Cannot search: { $reason }.
candidates_run_itself = This is the current result.
candidates_device_itself = This is the current device.
candidates_no_run = Choose one from the list, or paste a link to a result: this is no link to a result.
candidates_no_device = Choose one from the list, or paste a link to a device: this is no link to a device.
