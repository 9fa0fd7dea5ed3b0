### What is said of devices, and the page of one.

## Names

device_masked = A GPU that its browser hides
device_masked_but_for = { $told } (the browser hides which)
device_unnamed = without a name
device_of_vendor = { $vendor } GPU
device_source_reported = The platform reports the name.
device_source_claimed = Browsers hide the name. Owners entered it, and nothing contradicts it.
device_source_masked = The browser reports no more than this, or the measured peak does not fit the name. This may
    include different models.
device_this_browser = This browser
device_browser_on = { $browser } on { $system }

## The page of a device

device_none = No such device
device_none_why = The address may be wrong, or all results of this device were deleted.
device_not_shown = This device cannot be shown
device_merged = Moderators count these as the same device: { $keys }. The { $log } has the reason.
device_maker = A device of { $vendor }. { $source }
device_guess = Based on its measured peak, it may be { $guess }. This is a guess and affects no ranking.
device_latest = Latest results
device_latest_note = All tiers, newest first. Only proven results count in the metrics above.
device_all_runs = All runs of this device
device_tax_line = { $workload }: { $tax }.
device_tax_category = { $suite }; { $backend } in { $precision }; { $submitters }
device_tax_title = Cost of the browser
device_tax_note = Compares the same kernels from the command line and in browsers. With few submitters, the
    difference may come from their machines.
device_no_place = This device has no proven run yet, so it has no place. Its results are below.
device_suite_note = Speed of all networks together, relative to the reference run.
device_figures = Metrics
device_figures_note = Medians of proven runs; each person counts once a day. The interval contains half of the values.
    Places compare devices, backends and kinds of client in the same suite, network and precision.
device_best = best run: { $network }, { $backend }, { $client }
device_history = History
device_history_not_shown = The history cannot be shown: { $reason }.
device_history_of = { $what }. From { $results }.
device_history_of_latest = { $what }. From the latest { $results }.
device_history_category = { $workload }, { $suite }; { $backend } in { $precision }, { $client }
device_version_or_month = Version or month
device_first_and_last = First and last
device_engine = Engine
device_driver = Driver
device_month = Month
