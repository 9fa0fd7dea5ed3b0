### Results of a network as points.

scatter_title = Speed and time to accuracy
scatter_open = Speed and time to accuracy as a picture
scatter_listed = Of the results below, as far as they are listed.
scatter_left_out = { $number ->
    [one] { $number } listed result has no point: it never was as accurate, or has no settled speed.
   *[other] { $number } listed results have no point: they never were as accurate, or have no settled speed.
 }
scatter_hint = Point at a result, or go to it with the keyboard, to read its name; it leads to the result.
scatter_over = over seconds of training until the target accuracy, both logarithmic
scatter_point = { $device }, { $backend }: { $rate } samples per second, accurate after { $seconds }
scatter_described = { $number ->
    [one] { $number } result. The fastest: { $fastest }. The soonest: { $soonest }.
   *[other] { $number } results. The fastest: { $fastest }. The soonest: { $soonest }.
 }
scatter_nothing = No result has both figures.
