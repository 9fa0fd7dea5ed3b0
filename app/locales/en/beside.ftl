### Stored results or devices, side by side.

beside_title = Side by side
beside_choose = Open a result or a device, and choose there what to compare it with.
beside_nothing = No two of them have results for the same network, so there is nothing to compare.
beside_explanation = × is the rate divided by the rate of the first column. “Tied” means equal within a tenth.
    “Undecided” means that the intervals overlap and are too wide to decide: more windows or runs are needed.
beside_differs = Other differences
beside_faster = faster
beside_slower = slower
beside_tied = tied
beside_undecided = undecided
