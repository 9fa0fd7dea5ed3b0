### A result, as its own page and the end of a run show it.

## The outcome of a network

result_test_accuracy = { $accuracy } test accuracy
result_test_loss = test loss { $loss }
result_target_reached = { $target } after { $seconds } of training
result_target_missed = target of { $target } not reached in { $seconds }
result_published_part = { $workload }: { $part } the speed of { $device } with { $framework } (published: { $citation })
result_published_times = { $workload }: { $times } times the speed of { $device } with { $framework } (published:
    { $citation })
result_published_time = { $device } with { $framework } took { $seconds } per epoch: { $times } times as long as
    this device. Published: { $citation }.

## The page

result_rank = Faster than { $share } of { $devices } devices
result_this_run = This run
result_details = Details
result_score_meaning = Training arithmetic per second: the geometric mean over the suite's networks.
result_as_listed = The leaderboard's clock limits the speed. For proven runs, the leaderboard also measured the
    accuracy.
result_all_figures = Results
result_how_made = Details of the run
result_published = Compared with published results
result_worth_knowing = Notes
result_non_standard = Non-standard, so shown but never ranked: { $reasons }.
result_interface = Interface
result_started = Started
result_evidence = Evidence
result_training_of = { $workload }: { $steps } steps of batch size { $batch } in { $precision }, learning rate
    { $rate }, { $samples } samples, { $windows } windows counted
result_checked = { $mark } { $workload }: compared with the reference backend on batches of { $batch } (largest
    relative difference of a loss { $difference }, allowed { $allowed }){ $more }; the record contains the losses of
    the first { $steps } steps and { $weights } final weights
result_whole = , and batches of { $batch } with the same samples in batches of { $part } (gradients differ by
    { $difference }, allowed { $allowed })
result_uploaded_on = { $client } on { $system }, uploaded on { $day }.
result_not_shown = This cannot be shown
result_delete = Delete this result
result_yours = Your result
result_stays = This demonstration ran on the processor. It stays on this page and is not uploaded.
result_not_provable = Results of other frameworks stay on this page: the leaderboard cannot prove or rank them.
result_json = Raw data (JSON)
result_file_explanation = Drop or choose files that were downloaded from this page or written by native-runner. They
    are shown in this browser and not sent anywhere.
result_of_file = From the file { $name }, which was not verified.
result_file_not_shown = { $name } is not a readable result: { $reason }.
