### Where a run stands among others.

standing_only_this = This is the only proven run of this kind so far.
standing_only_other = There is only one proven run of this kind so far.
standing_faster = Faster than { $share } of { $runs } proven runs
standing_faster_all_on_device = Faster than { $share } of { $runs } proven runs, all on this device
standing_faster_all_of_vendor = Faster than { $share } of { $runs } proven runs, all of this vendor
standing_only_on_device = ; the only one on this device
standing_only_of_vendor = ; the only one of this vendor
standing_than_on_device = ; than { $share } of { $runs } on this device
standing_than_of_vendor = ; than { $share } of { $runs } of this vendor
standing_counts = This run is proven, so it is among the compared runs.
standing_counts_not = This run is compared with proven runs, but is not among them.
standing_as_fast = a browser trains as fast as a program
standing_slower = a browser trains { $share } slower than a program
standing_browser_faster = a browser trains { $share } faster than a program
standing_tax_submitters = { $programs } with programs, { $browsers } with browsers
standing_title = Compared with others
standing_not_shown = This cannot be shown: { $reason }.
standing_all_of_device = All results of this device
standing_reference = 1.00 is { $reference }.
standing_score = Score { $score }.
standing_score_of = All networks of the suite together.
standing_kind = All have the same suite, network, backend, precision and kind of client.
standing_software = A software adapter is compared with no GPU, so it has no place.
standing_nobody = There is no proven run yet with the same suite, network, backend, precision and kind of client, so
    there is nothing to compare it with.
standing_rates_of = Rates of all proven runs, { $workload }
standing_rates = Rates of all proven runs
standing_rates_not_shown = The rates cannot be shown: { $reason }.
standing_bins = by samples per second, in bins of five percent
standing_this_run = this run
standing_no_runs = There are no proven runs.
standing_described = { $runs } between { $low } and { $high } samples per second. The largest group ({ $fullest }) is
    between { $from } and { $to } samples per second. This run: { $own }.
