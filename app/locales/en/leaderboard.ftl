### Places of devices, and single runs.

leaderboard_log_and_data = The { $log } lists everything that hosts hid, flagged or merged, with reasons.
leaderboard_places_not_shown = The places cannot be shown: { $reason }.
leaderboard_results_not_shown = The results cannot be shown: { $reason }.
leaderboard_place_meaning = Place; statistically tied devices share it
leaderboard_figure_meaning = Median over submitters, each counted once a day; the interval contains half of the values
leaderboard_runs_meaning = Proven runs, and their number of submitters; each counts once a day
leaderboard_finished_meaning = Share of these submitters' announced runs that finished. If it is low, the finished
    runs may be a lucky selection
leaderboard_explanation = A place is based on all proven runs of a device; each person counts once a day.
    Statistically tied devices share a place. A device needs uploads from three networks on two days for a place.
leaderboard_each_network = Each network
leaderboard_whole_suite = Whole suite
leaderboard_score_explanation = The score is the relative speed of all networks together; 1.00 is { $reference }.
    { $lines }.
leaderboard_score = Score
leaderboard_device = Device
leaderboard_runs = Runs
leaderboard_finished = Finished
leaderboard_none_narrowed = No device has a place with these filters yet. Choose “All” and f32 to see more, or
    upload a matching run.
leaderboard_none_processor = No processor has a place yet. Choose the Burn backend for the processor, run the suite
    and upload the result.
leaderboard_none_gpu = No GPU has a place yet. Run this suite with its default settings and upload the result.
    “All runs” shows all uploads.
leaderboard_one_line = 1 device and backend
leaderboard_fastest_of = The fastest { $here } of { $total } devices and backends
leaderboard_all_lines = { $total } devices and backends, fastest first
leaderboard_unknown = unknown
leaderboard_of = { $part } of { $whole }
leaderboard_apart = { $number ->
    [one] { $number } outlier
   *[other] { $number } outliers
 }
leaderboard_perhaps = perhaps { $device }
leaderboard_voices_missing = { $number ->
    [one] { $number } more submitter needed for a place
   *[other] { $number } more submitters needed for a place
 }
leaderboard_inferred_meaning = A guess from the measured peak that affects no ranking
leaderboard_best_of = best run of { $device }, { $backend }, { $client }
leaderboard_best = best run
leaderboard_claimed = claimed
leaderboard_claimed_meaning = Name from its owner; the browser hides it
leaderboard_reported = reported
leaderboard_reported_meaning = Name from its platform
leaderboard_masked = masked
leaderboard_masked_meaning = The browser hides the name, or the measured peak does not fit it
leaderboard_look_further = Search further
leaderboard_none_looked = None of the results searched so far matches. Search further, or use fewer filters.
leaderboard_none_filtered = No result fits. Use fewer filters, or run the benchmark and upload yours.
leaderboard_none = No result yet. Yours can be the first: run the benchmark and upload it.
leaderboard_so_far = { $results } so far
leaderboard_listed = { $counted }, { $order }. For the places of devices, see “Devices”.
leaderboard_day = Day
leaderboard_place = Place
leaderboard_software = software adapter, not ranked
leaderboard_unusual = non-standard, { $precision }, batch size { $batch }
leaderboard_yours = yours
