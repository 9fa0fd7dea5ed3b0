### What was not ideal about a run. In English it is as the crate `results` has it. After | stands advice, which only the
### person who ran it reads.

warning_this_adapter = This adapter
warning_software_adapter = { $name } is a software adapter: the processor did the work. The result is shown but
    never ranked. | Install a GPU driver or turn on hardware acceleration to measure a GPU.
warning_perhaps_software = The browser does not say what this adapter is, and it multiplies no faster than a
    processor may: { $gigaflops } GFLOP/s beside { $processors } logical processors. So nothing tells it from a
    program, and the result is shown and not ranked. | If there is a GPU, use a browser that names its maker (Chrome,
    Edge), or native-runner; if it should be faster, turn on hardware acceleration or update its driver.
warning_not_stabilised = { $workload }: repeated windows still differed (±{ $half_width } %), so this result is not
    ranked. | Close other programs, let the device cool and run again.
warning_too_few_windows = { $workload }: windows long enough to count: { $windows }, and a result of fewer than five
    is not ranked. | Train for longer.
warning_not_learned = { $workload }: { $accuracy } of the test set were classified correctly, which is no better than
    always answering the most frequent class ({ $chance }), so this result is not ranked. | Train for longer or with a
    smaller learning rate.
warning_checkpoint_missed = { $workload }: the leaderboard could not follow the run ({ $reason }), so it will
    not be proven or ranked. | If the connection was lost, run again where it holds.
warning_stopped_by_budget = { $workload }: the time budget of { $budget } s ended training early, so the accuracy is
    that of a shorter run. | Ask for a number of epochs to train to the end.
warning_tab_hidden = The page was hidden for { $seconds } s, and browsers slow hidden pages down. | Keep the tab in
    front and run again.
warning_tab_paused = The page was hidden for { $seconds } s, and the run waited for { $paused } s, in which the device
    cooled down. | Keep the tab in front and run again.
warning_coarse_timer = This browser's clock moves in steps of { $milliseconds } ms, so short times are uncertain.
warning_untuned = { $backend }: the program that computes has Burn without fusion and autotune, so Burn is slower
    than it can be on this device. | Build that program with `burn-tuned` as well: `--features burn-wgpu,burn-tuned`.
warning_tuning_not_settled = { $workload }: after { $steps } steps of choosing among kernels the time of a step had
    not settled, so the first windows may hold some of it. | Close other programs and run again.
warning_no_wake_lock = The browser did not keep the screen on. | Touch the screen now and then, or plug the device in.
warning_on_battery = This device ran on its battery, on which many are slower. | Plug it in and run again.
warning_processor_pressed = The processor was hard-pressed or hot for { $percent } % of the run, by other programs
    or tabs perhaps. | Close them, let the device cool and run again.
warning_not_isolated = The page is not cross-origin isolated, so the clock is coarse. | Open it from a server that
    sends the COOP and COEP headers, such as the leaderboard itself.
warning_unregistered = The leaderboard gave no seed for this run ({ $reason }), so an upload will be marked
    unverified. | Run again while the leaderboard can be reached.
warning_stopped_early = { $workload }: training stopped, because held-out samples were no longer classified better
warning_smaller_batch = { $workload }: batches of { $used } samples, because the recipe's { $asked } need
    { $needed } MiB where { $allowed } MiB are to be had. Figures of other batch sizes do not compare. | Whoever names
    a batch size gets that one or a refusal.
warning_generated_data = { $workload }: the samples are generated, not the published ones, so the accuracy does not
    compare with published figures; speed does. | Of stories, the native runner reads the published ones from the
    folder that --babi names.

## Reasons

warning_seed_by_hand = the seed was chosen by hand
