### A run in progress.

running_loading = Loading { $what }
running_status = Network { $number } of { $count }: { $phase }
running_phase_loading = loading the data
running_phase_building = compiling kernels
running_phase_checking = checking results
running_phase_warming_up = warming up
running_phase_testing = testing on { $samples } samples
running_phase_measuring = measuring
running_phase_proving = proving the run
running_phase_paused = waiting, because this tab is hidden

## Why a run ended without a result

running_another_tab = Another tab of this browser is training, and two at once disturb each other. Wait until it
    finishes or close it, then press the button again.
running_not_started = The training worker did not start. Reload the page and try again.
running_not_loaded = The training worker could not be loaded: { $reason }. Check the connection and press Benchmark
    to try again.
running_failed = The benchmark failed: { $reason }.
running_crashed = The training worker stopped working: { $reason }. Reload the page and try again; if it happens
    again, please report it.

## As it is drawn

running_getting_ready = Getting ready
running_left = about { $time } left
running_progress = Progress of the benchmark
running_score = Score so far
running_loss = Loss
running_step = Step
running_epochs = Epochs
running_examples = Test images and the network's answers
running_example_right = { $label }, answered correctly
running_example_wrong = { $label }, incorrectly answered { $answer }
running_texts = What the network writes
running_published_curve = Dashed: training accuracy of { $framework } on { $device }, epoch by epoch
    ({ $citation }).
running_published_end = Dashed: test accuracy of { $accuracy } after { $epochs } epochs, with { $framework } on
    { $device } ({ $citation }).
