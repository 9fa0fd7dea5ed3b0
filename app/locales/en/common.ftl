### What several pages say, and the frame around all of them.

common_skip = Skip to the content
common_pages = Pages
common_compare = Compare
common_leaderboard = Leaderboard
common_privacy = Results are uploaded only after you have seen the exact data and clicked. During training, the page
    sends the leaderboard a hash about once a second. At the end, it recomputes a few random parts and sends some
    states, a few megabytes per network, to prove that the training happened. No address and no user-agent string is
    stored, and you can delete your uploads.
common_show_file = Show a result file
common_nothing_here = There is nothing here
common_nothing_here_why = The address may be wrong, or the result was deleted.
common_to_start = Go to the start page

## Choices at the end of each page

common_language = Language
common_colours = Colors
common_colours_system = System
common_colours_light = Light
common_colours_dark = Dark

## How a run ended

common_run_trained_nothing = The run trained nothing.
common_done = Done. { $figures }
common_samples = samples
common_samples_counted = { $number ->
    [one] { $number } sample
   *[other] { $number } samples
 }
common_seeds = { $number ->
    [one] { $number } seed
   *[other] { $number } seeds
 }
common_epochs = { $number ->
    [one] { $number } epoch
   *[other] { $number } epochs
 }
common_steps = { $number ->
    [one] { $number } step
   *[other] { $number } steps
 }
common_results = { $number ->
    [one] { $number } result
   *[other] { $number } results
 }
common_results_more = More than { $results }
common_proven_results = { $number ->
    [one] { $number } proven result
   *[other] { $number } proven results
 }
common_proven_runs = { $number ->
    [one] { $number } proven run
   *[other] { $number } proven runs
 }
common_on_devices = { $number ->
    [one] on { $number } device
   *[other] on { $number } devices
 }
common_submitters = { $number ->
    [one] { $number } submitter
   *[other] { $number } submitters
 }
common_loss = loss { $loss }
common_loss_and_bits = { $loss } ({ $bits } bits per character)
common_loading = Loading …
common_copied = Copied.
common_not_saved = Failed: { $reason }.
common_scrollable = { $what }, scrollable
common_show_more = Show more
common_all_results = All results
common_all_devices = All devices
common_download = Download
common_copy = Copy
common_cancelling = Cancelling …
common_cancel = Cancel
common_upload = Upload
common_uploading = Uploading …
common_uploaded = Uploaded
common_no_sharing = this browser does not support it

## Words of several pages

common_all_networks = All networks
common_backend = Backend
common_batch_size = Batch size
common_browser = Browser
common_metric = Metric
common_network = Network
common_precision = Precision
common_program = Program
common_rate = Samples per second
common_seed = Seed
common_suite = Suite
common_too_short = too short to measure
common_training = Training
