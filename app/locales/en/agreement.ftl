### Whether back ends reached the same accuracy. In English it is as the crate `results` has it.

agreement_agree = { $subject } agree within { $spread }: { $numbers }
agreement_disagree = { $subject } disagree: { $pairs }; { $spread } explains differences of { $allowed }
agreement_unclear = { $subject } may agree or not: they differ by up to { $largest }, but { $spread } is so wide
    that it explains { $allowed }; train for longer, or from more seeds
agreement_not_compared = Accuracies were not compared: { $obstacle }
agreement_pair = { $higher } is { $difference } above { $lower }
agreement_too_few = fewer than two back ends finished
agreement_no_common_seed = no seed was finished by all back ends
agreement_no_common_step = the back ends were never tested after the same step; a number of epochs gives all of them
    the same work
agreement_final = Final accuracies
agreement_after_step = Accuracies after step { $step }, the last that all were tested at,
agreement_spread_of_seeds = the spread of { $seeds } seeds
agreement_sampling_error = the sampling error of { $samples } test samples (one seed)
agreement_numbers = they differ by up to { $largest } where { $allowed } are explained
agreement_numbers_same_seed = they differ by up to { $largest } where { $allowed } are explained, from the same seed
    up to { $same_seed }
agreement_points = { $number } points
