### Comparison of backends on this device.

## The table

compare_column_memory = Device memory
compare_column_start = Start, once
compare_projected = from its throughput
compare_faster = { $fastest } is { $times }× as fast as { $next } here.
compare_equal = No clear winner: the intervals of { $fastest } and { $next } overlap.
compare_too_short = Too short to measure a difference. Train for longer.

## The page

compare_below = The comparison is below.
compare_title = Compare frameworks
compare_lead = They train the same networks from the same weights on the same samples, one after the other. Each must
    pass the same check before it is timed. Their accuracies should agree; their times may differ.
compare_asking = Asking the browser for its GPU …
compare_no_gpu = { $why } You can compare the backends that need no WebGPU.
compare_gpu_software = GPU: { $name }. This is a slow software adapter on your processor; frameworks may need
    minutes.
compare_needs_webgpu = needs WebGPU
compare_choose_two = Choose at least two backends.
compare_note = { $contenders } backends train in turn: { $length } each, { $seeds }. The result stays on this page.
compare_what = Compared backends
compare_seeds = Seeds, each for all backends
compare_comparison = Comparison
compare_explanation = × after a rate is its ratio to the fastest, with the 95 % interval. “Tied” means within a tenth
    of the fastest. “Undecided” means that more windows or seeds are needed. × after a time is its ratio to the fastest.
    Start includes building, compiling, tuning and the first step, which happen once.
compare_copy_link = Copy the link
compare_explanation_seeds = Seeds: { $seeds }. Times are medians over seeds; accuracies are means.
