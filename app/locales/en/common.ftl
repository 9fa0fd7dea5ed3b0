### What several pages say, and the frame around all of them.

common_skip = Skip to the content
common_brand = Gradmark, start page
common_pages = Pages
common_compare = Compare
common_leaderboard = Leaderboard
common_privacy = No result is uploaded without a click, after the exact data was offered to you. While a run trains, the
    leaderboard is told check sums of it and may ask for the weights, to prove that the training happened. No address and no
    user-agent string is stored, and whoever uploads a result can delete it.
common_show_file = Show a result file
common_nothing_here = There is nothing here
common_nothing_here_why = The address may be mistyped, or the result was deleted.
common_to_start = Go to the start page

## Choices at the end of each page

common_language = Language
common_colours = Colours
common_colours_system = As the system
common_colours_light = Light
common_colours_dark = Dark

## So many of a thing

common_runs = { $number ->
    [one] { $number } run
   *[other] { $number } runs
 }
