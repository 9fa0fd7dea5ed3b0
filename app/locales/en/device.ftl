### What is said of devices, and the page of one.

## Names

device_masked = A GPU that its browser hides
device_masked_but_for = { $told } (the browser hides which)
device_unnamed = without a name
device_of_vendor = { $vendor } GPU
device_source_reported = The device is named by its platform.
device_source_claimed = Browsers hide the name; owners gave it to their results, and nothing contradicts.
device_source_masked = The browser tells no more than this, or the measured peak does not fit the name; different
    models may be behind it.
device_this_browser = This browser
device_browser_on = { $browser } on { $system }

## The page of a device

device_none = No such device
device_none_why = The address may be mistyped, or all results of this device were deleted.
device_not_shown = This device cannot be shown
device_merged = Moderators count these as the same device: { $keys }. Why is in the { $log }.
device_maker = A device of { $vendor }. { $source }
device_guess = By its measured peak it may be { $guess }. That is a guess, which decides nothing.
device_latest = Latest results
device_latest_note = Of whatever tier, newest first. Only proven ones count in the figures above.
device_all_runs = All runs of this device
device_tax_line = { $workload }: { $tax }.
device_tax_category = { $suite }; { $backend } in { $precision }; { $submitters }
device_tax_title = What a browser costs
device_tax_note = The same kernels from the command line and in browsers. With few submitters behind a side, the
    difference is one of machines.
device_no_place = No run of this device is proven yet, so it has no place. Its results are below.
device_suite_note = How many times as fast as the reference run all networks train together.
device_figures = Figures
device_figures_note = Medians of proven runs, in which each person counts once a day; half of them lie in the
    interval. A place is one among devices, back ends and kinds of client in the same suite, network and precision.
device_all_networks = All networks
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
