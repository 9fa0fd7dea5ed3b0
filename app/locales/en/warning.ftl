### Warnings about a run. The English texts match the crate `results`. Text after | is advice, which only the person
### who ran the benchmark sees.

warning_this_adapter = This adapter
warning_software_adapter = { $name } is a software adapter: the processor did the work. The result is shown but
    never ranked. | Install a GPU driver or turn on hardware acceleration to measure a GPU.
warning_perhaps_software = The browser does not identify this adapter, and software on { $processors } logical
    processors could reach its { $gigaflops } GFLOP/s. It may be a software adapter, so the result is shown but not
    ranked. | If there is a GPU, use a browser that names its vendor (Chrome, Edge), or native-runner; if it should be
    faster, turn on hardware acceleration or update its driver.
warning_not_stabilised = { $workload }: repeated windows still differed (±{ $half_width } %), so this result is not
    ranked. | Close other programs, let the device cool and run again.
warning_too_few_windows = { $workload }: too few windows are long enough to count ({ $windows }); a ranked result
    needs five. | Train for longer.
warning_not_learned = { $workload }: a test accuracy of { $accuracy } is no better than always predicting the most
    frequent class ({ $chance }), so this result is not ranked. | Train for longer or with a smaller learning rate.
warning_checkpoint_missed = { $workload }: the leaderboard could not follow the run ({ $reason }), so it will
    not be proven or ranked. | If the connection was lost, run again on a stable one.
warning_stopped_by_budget = { $workload }: the time budget of { $budget } s ended training early, so the accuracy
    comes from a shorter run. | Set a number of epochs to train to the end.
warning_tab_hidden = The page was hidden for { $seconds } s, and browsers slow hidden pages down. | Keep the tab in
    front and run again.
warning_tab_paused = The page was hidden for { $seconds } s, and the run waited for { $paused } s, during which the
    device cooled down. | Keep the tab in front and run again.
warning_coarse_timer = This browser's clock moves in steps of { $milliseconds } ms, so short times are uncertain.
warning_untuned = { $backend }: the program that trains was built without Burn's fusion and autotune, so Burn is
    slower than it could be on this device. | Add `burn-tuned` when building that program:
    `--features burn-wgpu,burn-tuned`.
warning_tuning_not_settled = { $workload }: the step time was still changing after { $steps } steps of tuning, so the
    first windows may include some tuning. | Close other programs and run again.
warning_no_wake_lock = The browser did not keep the screen on. | Touch the screen now and then, or plug the device in.
warning_on_battery = This device ran on battery power, which makes many devices slower. | Plug it in and run again.
warning_processor_pressed = The processor was overloaded or hot for { $percent } % of the run, possibly because of
    other programs or tabs. | Close them, let the device cool and run again.
warning_not_isolated = The page is not cross-origin isolated, so the clock is coarse. | Open it from a server that
    sends the COOP and COEP headers, such as the leaderboard itself.
warning_unregistered = The leaderboard gave no seed for this run ({ $reason }), so an upload will be marked
    unverified. | Run again while the leaderboard can be reached.
warning_stopped_early = { $workload }: training stopped early because the accuracy on held-out samples no longer
    improved
warning_smaller_batch = { $workload }: trained at batch size { $used }, because the recipe's { $asked } needs
    { $needed } MiB but only { $allowed } MiB are available. Results at different batch sizes are not comparable. |
    A batch size that you set yourself is never reduced.
warning_generated_data = { $workload }: the samples are generated, not the published ones. Compare only the speed
    with published results, not the accuracy. | To train on the published bAbI stories, run native-runner with --babi
    and their folder.

## Reasons

warning_seed_by_hand = the seed was chosen by hand
