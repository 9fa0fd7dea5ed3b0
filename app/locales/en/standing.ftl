### Where a run stands among others.

standing_only = There is only one proven run of this kind so far.
standing_faster = Faster than { $share } of { $runs } proven runs
standing_than_on_device = ; than { $share } of { $runs } on this device
standing_than_of_vendor = ; than { $share } of { $runs } of this vendor
standing_as_fast = a browser trains as fast as a program
standing_slower = a browser trains { $share } slower than a program
standing_browser_faster = a browser trains { $share } faster than a program
standing_tax_submitters = { $programs } with programs, { $browsers } with browsers
standing_title = Compared with others
standing_kind = Compared with proven runs that have the same suite, network, backend, precision and kind of client.
standing_nobody = There is no proven run yet with the same suite, network, backend, precision and kind of client.
standing_rates = Rates of all proven runs
standing_bins = by samples per second, in bins of five percent
standing_this_run = this run
standing_described = { $runs } between { $low } and { $high } samples per second. The largest group ({ $fullest ->
    [one] one run
   *[other] { $fullest }
 }) is between { $from } and { $to } samples per second. This run: { $own }.
