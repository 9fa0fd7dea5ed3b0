### Stored results, or devices, beside each other.

beside_title = Side by side
beside_choose = Open a result or a device, and choose there what to put beside it.
beside_not_shown = These cannot be compared
beside_nothing = No two of them have a result of the same network, so there is nothing to compare.
beside_not_said = not said
beside_explanation = × is a rate over that of the first. “Tied” means that both are equal within a tenth,
    “undecided” that the intervals overlap and are too wide for that: more windows or runs would decide.
beside_figure = Figure
beside_differs = What differs around them
beside_rate = Samples per second
beside_accuracy = Test accuracy
beside_time = Time to accuracy
beside_batch = Batch size
beside_faster = faster
beside_slower = slower
beside_tied = tied
beside_undecided = undecided
