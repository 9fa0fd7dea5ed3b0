### A result, as its own page and the end of a run show it.

## The large figures, and the same as a sentence

result_time_to = Time to { $target }
result_trained = Trained
result_too_short = in { $seconds }: too short to measure a rate
result_best_in = Best in { $seconds }
result_of_target = of { $target }, its target
result_samples_in = { $samples } in { $seconds }
result_test_accuracy = { $accuracy } test accuracy
result_target_reached = { $target } after { $seconds } of training
result_target_missed = its target of { $target } not reached in { $seconds }
result_published_fast = { $device } with { $framework } took { $seconds } for a pass over the data; this device is
    { $times } times as fast. Published: { $citation }.
result_published_slow = { $device } with { $framework } took { $seconds } for a pass over the data; this device
    takes { $times } times as long. Published: { $citation }.

## The page

result_came_to = Summary
result_as_listed = The leaderboard's clock limits the speed. If the run is proven, the accuracy is the leaderboard's
    own.
result_all_figures = All metrics
result_how_made = Details of the run
result_published = Compared with published results
result_worth_knowing = Notes
result_non_standard = Non-standard, so shown but never ranked: { $reasons }.
result_device_reported = Device, as reported
result_device_claimed = Device, as claimed
result_interface = Interface
result_kernels = Kernels
result_kernels_of = backend { $backend }
result_program_on = { $name } { $version } on { $system }
result_commit = { $version }, commit { $commit }
result_started = Started
result_evidence = Evidence
result_training_of = { $workload }: { $steps } steps of batch size { $batch } in { $precision }, learning rate
    { $rate }, { $samples } samples, { $windows } windows counted
result_agrees = { $workload }: agrees with the reference backend on batches of { $batch } (largest relative
    difference of a loss { $difference }, allowed { $allowed }){ $more }; the losses of the first { $steps } steps
    and { $weights } final weights are kept
result_disagrees = { $workload }: disagrees with the reference backend on batches of { $batch } (largest relative
    difference of a loss { $difference }, allowed { $allowed }){ $more }; the losses of the first { $steps } steps
    and { $weights } final weights are kept
result_redrawn = , with other samples, because rounding alone decided the comparison with the first ones
result_whole = , and its batches of { $batch } with the same samples in batches of { $part } (gradients differ by
    { $difference }, allowed { $allowed })
result_title_of = { $device }, a result
result_software_note = A software adapter: shown, not ranked.
result_uploaded_on = { $client } on { $system }, uploaded on { $day }.
result_not_shown = This result cannot be shown
result_delete = Delete this result
result_demonstration = Demonstration on the processor
result_yours = Your result
result_stays = A demonstration stays on this page; it is not uploaded.
result_not_provable = Results of other frameworks stay on this page: a leaderboard has no way to prove them, and does
    not rank them.
result_results = Results
result_json = Exact JSON
result_picture = Image of this result
result_copy_picture = Copy the image's address
result_badge = Badge
result_copy_badge = Copy the badge's address
result_share = Share …
result_not_shared = Not shared: { $reason }.
result_copy = Copy the result
result_file_explanation = Drop or choose files that were downloaded from this page or written by native-runner. They
    are shown in this browser and not sent anywhere.
result_files = Result files
result_no_result = it is no result of Gradmark: { $error }
result_of_file = From the file { $name }, which was not verified.
result_file_not_shown = { $name } cannot be shown: { $reason }.
