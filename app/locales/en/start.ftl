### The start page.

start_page_title = Gradmark – how fast does your GPU learn?
start_title = How fast does your GPU learn?
start_lead = One click trains real neural networks on real data, on your own GPU, in this tab – and shows how fast
    and how well they learn.
start_cancelled = Cancelled. Nothing was saved or uploaded.
start_again = Run again
start_benchmark = Benchmark
start_battery = This device is on battery power, which can slow it down. Plug it in first, or the result will
    have a note.
start_software = This is a software adapter: your processor acts as a GPU. It trains correctly but slowly,
    and its result is shown but not ranked.
start_compatibility = Here, the browser offers WebGPU only in its compatibility mode, with lower limits. The result is
    ranked as a separate device.
start_no_webgpu = WebGPU is missing
start_demonstrate = Demonstrate on the processor
start_demonstration = Trains the same network with plain loops on one processor core for a few seconds. It is not a
    benchmark and is not uploaded.
start_claim = Your GPU, if you know it (for example GeForce RTX 4070)
start_pressed = Other tabs or programs are using the processor. Close the ones that you do not need, or the result
    may be too low.
start_integrated_question = Does this machine have a faster GPU?
start_right = { $right } of { $all } correct
start_sample = Example: { $score } GFLOP/s on { $device }
