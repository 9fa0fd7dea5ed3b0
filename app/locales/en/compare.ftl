### Back ends beside each other on this device.

## The table

compare_column_rate = Samples per second
compare_column_epoch = Time per epoch
compare_column_training = Training
compare_column_testing = Testing
compare_column_accuracy = Test accuracy
compare_column_memory = Device memory
compare_column_start = Start, once
compare_projected = from its throughput
compare_tied = tied
compare_undecided = undecided
compare_cancelled = Cancelled.
compare_diverged = The loss became infinite, or a thousand times the first one, at step { $step }.
compare_incorrect = Computed something else than the reference, so nothing was timed.
compare_incorrect_at = Computed something else than the reference ({ $what }), so nothing was timed.

## The page

compare_turn = { $backend } ({ $number } of { $count }): { $status }
compare_cancelled_in_part = Cancelled. What was finished is in the comparison below.
compare_below = The comparison is below.
compare_page_title = Compare frameworks
compare_title = How do frameworks differ on your device?
compare_lead = Each trains the same networks from the same weights on the same samples, one after the other, and is
    held to the same check before it is timed. What they learn should agree; how long it takes need not.
compare_asking = Asking the browser for its GPU …
compare_no_gpu = { $why } Back ends that need no WebGPU can be compared.
compare_gpu = The GPU: { $name }.
compare_gpu_software = The GPU: { $name }. That is a program on your processor, and slow; frameworks may need minutes.
compare_needs_webgpu = needs WebGPU
compare_choose_two = Choose two back ends or more.
compare_note = { $contenders } back ends train in turn, { $length }. It stays on this page.
compare_note_seeds = { $contenders } back ends train in turn from each of { $seeds } seeds, { $length }. It stays on
    this page.
compare_as_settings = as long as the settings say
compare_one_pass = for one pass over the data
compare_compare = Compare
compare_what = What is compared
compare_seeds = Seeds, each for all of them
compare_comparison = Comparison
compare_of_workload = Comparison: { $workload }
compare_explanation = × of a rate is that of the fastest, with the interval in which it lies 95 times of a hundred;
    “tied” means that it is within a tenth of the fastest, “undecided” that more windows or seeds would be needed to
    tell. × of a time is how often the fastest goes into it. Start is building, compiling, tuning and the first step,
    which happen once.
compare_explanation_seed = Seed { $seed } for all of them. { $what }
compare_explanation_seeds = Seeds { $seeds } for all of them; times are medians over them, accuracies means. { $what }
compare_backend = Back end
compare_fetched = { $backend }. { $arrival }
compare_link_copied = Copied. It compares the same from the same seeds on whatever device opens it.
compare_link_not_copied = Not copied: { $reason }. The link is { $link }
compare_copy_link = Copy the link
compare_as_json = Download as JSON
compare_as_csv = Download as CSV
compare_verdict = { $verdict }.
