### Names of devices, and the page of a device.

## Names

device_masked = A GPU that its browser hides
device_masked_but_for = { $told } (the browser hides which)
device_software = A software adapter
device_compatibility = compatibility mode
device_unnamed = without a name
device_source_reported = The platform reports the name.
device_source_claimed = Browsers hide the name. Owners entered it, and nothing contradicts it.
device_source_masked = The browser reports no more than this, or the measured peak does not fit the name. This may
    include different models.
device_this_browser = This browser
device_browser_on = { $browser } on { $system }

## The page of a device

device_not_shown = This device cannot be shown
device_merged = Moderators count these as the same device: { $keys }.
device_guess = Based on its measured peak, it may be { $guess }. This is a guess and affects no ranking.
device_latest = Latest results
device_all_runs = All runs of this device
device_tax_title = Cost of the browser
device_tax_note = Compares the same kernels from the command line and in browsers. With few submitters, the
    difference may come from their machines.
device_no_place = This device has no proven run yet, so it has no place.
device_not_ranked = This device has proven runs but no place. { $reason }.
device_figures = Metrics
device_figures_note = Medians of proven runs; each submitter counts once a day. Places compare devices, backends and
    kinds of client in the same suite, network and precision.
device_history = History
device_history_of = { $what }. From { $results }.
device_version_or_month = Version or month
device_first_and_last = First and last
device_month = Month

## Devices for one network

device_which = Which device trains a network fastest?
device_which_note = Best f32 entry of each GPU, sorted by time to target, then by speed. For some networks, few runs are
    long enough to reach the target.
