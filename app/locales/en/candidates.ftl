### What a result or a device can be put beside.

candidates_find_run = Compare with other results: words of a device’s name, or a link
candidates_find_device = Compare with other devices: words of a name, or a link
candidates_found = Found, up to three of which can be chosen
candidates_speed = { $rate } samples per second
candidates_refused = Nothing can be looked for: { $reason }.
candidates_run_itself = That is this result itself.
candidates_device_itself = That is this device itself.
candidates_no_run = Choose one of those found, or paste a link to a result: this is no link to a result.
candidates_no_device = Choose one of those found, or paste a link to a device: this is no link to a device.
