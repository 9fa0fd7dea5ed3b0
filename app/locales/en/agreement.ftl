### Whether back ends reached the same accuracy. In English it is as the crate `results` has it.

agreement_nothing_found = { $subject }: no difference found; they differ by up to { $largest }, and { $allowed } are
    expected by chance ({ $spread })
agreement_disagree = { $subject } disagree: { $pairs }; { $spread } explain { $allowed }
agreement_unclear = { $nothing_found }; that is undecided, and more seeds would decide it
agreement_not_compared = Accuracies were not compared: { $obstacle }
agreement_pair = { $higher } is { $difference } above { $lower }
agreement_too_few = fewer than two back ends finished
agreement_no_common_seed = no seed was finished by all back ends
agreement_no_common_step = the back ends were never tested after the same step; a number of epochs gives all of them
    the same work
agreement_final = Final accuracies
agreement_after_step = Accuracies after step { $step } (the last that all were tested at)
agreement_spread_of_seeds = the paired differences of { $seeds } seeds
agreement_sampling_error = sampling errors of { $samples } test samples (one seed)
agreement_points = { $number } points
