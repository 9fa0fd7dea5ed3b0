### Places of devices, and single runs.

leaderboard_not_shown = This cannot be shown: { $reason }.
leaderboard_figure_meaning = Median over submitters, each counted once a day; the interval contains half of the values
leaderboard_finished_meaning = Finished runs out of all that these submitters started. If few finished, the results
    may be cherry-picked
leaderboard_explanation = A place is based on all proven runs of a device; each submitter counts once a day.
    Statistically tied devices share a place. To get a place, a device needs runs from three submitters on two days.
leaderboard_each_network = Each network
leaderboard_whole_suite = Whole suite
leaderboard_device = Device
leaderboard_runs = Runs
leaderboard_finished = Finished
leaderboard_no_places = No device has a place with these filters yet. Change the filters, or run this suite with its
    default settings and upload the result.
leaderboard_lines = Fastest first: { $here } of { $total } entries
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
leaderboard_best = best run
leaderboard_claimed = claimed
leaderboard_reported = reported
leaderboard_masked = masked
leaderboard_none_looked = No result found so far. Show more, or use fewer filters.
leaderboard_none = No results yet. Use fewer filters, or run the benchmark and upload your result.
leaderboard_day = Day
leaderboard_place = Place
leaderboard_among_processors = Ranked in the separate table for processors
leaderboard_software = Not ranked: a software adapter is not a GPU
leaderboard_not_standard = Not ranked: non-standard settings
leaderboard_not_comparable = Not ranked: unstable speed, no learning, or possibly a software adapter
leaderboard_unusual = { $precision }, batch size { $batch }
leaderboard_yours = yours
leaderboard_you = you
leaderboard_in_browser = in browser
leaderboard_native = native
leaderboard_score = Score
leaderboard_rank = Faster than { $share } of { $number } entries
leaderboard_search = Search devices
leaderboard_none_found = No matching devices.
leaderboard_filters = Filters: { $filters }
leaderboard_first = No ranked results yet. Here are published results for the same networks.
leaderboard_be_first = Run the benchmark and upload your result
leaderboard_published = Published hardware
leaderboard_see = See the leaderboard
