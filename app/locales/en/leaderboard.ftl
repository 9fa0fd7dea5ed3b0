### Places of devices, and single runs.

leaderboard_log_and_data = What hosts hid, flagged or merged is in the { $log }, with their reasons.
leaderboard_places_not_shown = The places cannot be shown: { $reason }.
leaderboard_results_not_shown = The results cannot be shown: { $reason }.
leaderboard_place_meaning = Place; devices in a statistical tie share one
leaderboard_figure_meaning = Median over submitters, each once a day; half of them lie in the interval
leaderboard_runs_meaning = Proven runs, and by how many people: each counts once a day
leaderboard_finished_meaning = Of the runs that these people announced. Where few finished, those that did are a
    lucky choice
leaderboard_explanation = A place comes from all proven runs of a device, in which each person counts once a day.
    Devices in a statistical tie share one. A device gets a place after uploads from three networks on two days.
leaderboard_each_network = Each network
leaderboard_rate = Samples per second
leaderboard_whole_suite = Whole suite
leaderboard_score_explanation = The score says how many times as fast all networks train together; 1.00 is
    { $reference }. { $lines }.
leaderboard_score = Score
leaderboard_device = Device
leaderboard_runs = Runs
leaderboard_finished = Finished
leaderboard_backend = Back end
leaderboard_run_in = Run in
leaderboard_none_narrowed = No device has a place in this choice yet. Choose “All” and f32 to see more, or upload a
    run like it.
leaderboard_none_processor = No processor has a place yet. Choose the Burn back end for the processor, run the suite
    and upload it.
leaderboard_none_gpu = No GPU has a place yet. Run this suite with its default settings and upload the result.
    “All runs” shows everything that was uploaded.
leaderboard_one_line = 1 device and back end
leaderboard_fastest_of = The fastest { $here } of { $total } devices and back ends
leaderboard_all_lines = { $total } devices and back ends, fastest first
leaderboard_unknown = unknown
leaderboard_of = { $part } of { $whole }
leaderboard_apart = { $number ->
    [one] { $number } run stands apart
   *[other] { $number } runs stand apart
 }
leaderboard_perhaps = perhaps { $device }
leaderboard_voices_missing = { $number ->
    [one] { $number } more submitter needed for a place
   *[other] { $number } more submitters needed for a place
 }
leaderboard_inferred = inferred
leaderboard_inferred_meaning = What it may be follows from its measured peak, and decides nothing
leaderboard_best_of = best run of { $device }, { $backend }, { $client }
leaderboard_best = best run
leaderboard_claimed = claimed
leaderboard_claimed_meaning = Its owner says so; the browser hides the name
leaderboard_reported = reported
leaderboard_reported_meaning = Its platform says so
leaderboard_masked = masked
leaderboard_masked_meaning = The browser hides the name, or the measured peak does not fit it
leaderboard_look_further = Look further
leaderboard_none_looked = Nothing that fits among those that were looked at. Look further, or choose less.
leaderboard_none_filtered = No result fits. Choose less, or run the benchmark and upload yours.
leaderboard_none = No result yet. Yours can be the first: run the benchmark and upload it.
leaderboard_so_far = { $results } so far
leaderboard_listed = { $counted }, { $order }. Places belong to devices and are under “Devices”.
leaderboard_program = Program
leaderboard_tier = Checked
leaderboard_day = Day
leaderboard_network = Network
leaderboard_precision = Precision
leaderboard_place = Place
leaderboard_software = software adapter, not ranked
leaderboard_unusual = non-standard, { $precision }, batch size { $batch }
leaderboard_yours = yours
