### Comparison of backends on this device.

## The table

compare_column_testing = Testing
compare_column_memory = Device memory
compare_column_start = Start, once
compare_projected = from its throughput
compare_cancelled = Cancelled.
compare_diverged = The loss became infinite, or a thousand times the first one, at step { $step }.
compare_incorrect = The results differ from the reference, so nothing was timed.
compare_incorrect_at = The results differ from the reference ({ $what }), so nothing was timed.

## The page

compare_turn = { $backend } ({ $number } of { $count }): { $status }
compare_cancelled_in_part = Cancelled. What was finished is in the comparison below.
compare_below = The comparison is below.
compare_page_title = Compare frameworks
compare_title = How do frameworks differ on your device?
compare_lead = They train the same networks from the same weights on the same samples, one after the other. Each must
    pass the same check before it is timed. Their accuracies should agree; their times may differ.
compare_asking = Asking the browser for its GPU …
compare_no_gpu = { $why } You can compare the backends that need no WebGPU.
compare_gpu = The GPU: { $name }.
compare_gpu_software = The GPU: { $name }. This is a slow software adapter on your processor; frameworks may need
    minutes.
compare_needs_webgpu = needs WebGPU
compare_choose_two = Choose at least two backends.
compare_note = { $contenders } backends train in turn, { $length }. The result stays on this page.
compare_note_seeds = { $contenders } backends train in turn from each of { $seeds } seeds, { $length }. The result
    stays on this page.
compare_as_settings = for the duration in the settings
compare_one_pass = for one pass over the data
compare_what = Compared backends
compare_seeds = Seeds, each for all backends
compare_comparison = Comparison
compare_of_workload = Comparison: { $workload }
compare_explanation = × after a rate is its ratio to the fastest, with the 95 % interval. “Tied” means within a tenth
    of the fastest. “Undecided” means that more windows or seeds are needed. × after a time is its ratio to the fastest.
    Start includes building, compiling, tuning and the first step, which happen once.
compare_explanation_seed = Seed { $seed } for all backends. { $what }
compare_explanation_seeds = Seeds { $seeds } for all backends. Times are medians over seeds; accuracies are means.
    { $what }
compare_fetched = { $backend }. { $arrival }
compare_link_copied = Copied. The link runs the same comparison with the same seeds on any device.
compare_link_not_copied = Not copied: { $reason }. The link is { $link }
compare_copy_link = Copy the link
compare_as_json = Download as JSON
compare_as_csv = Download as CSV
compare_verdict = { $verdict }.
