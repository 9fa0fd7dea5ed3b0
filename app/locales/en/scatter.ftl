### Results of a network as points.

scatter_title = Speed and time to accuracy
scatter_left_out = { $number ->
    [one] { $number } listed result has no point: it did not reach the accuracy, or has no stable speed.
   *[other] { $number } listed results have no point: they did not reach the accuracy, or have no stable speed.
 }
scatter_hint = Point at a result, or move to it with the keyboard, to see its name. Select it to open the result.
scatter_over = over seconds of training until the target accuracy, both logarithmic
scatter_point = { $device }, { $backend }: { $rate } samples per second, accurate after { $seconds }
scatter_described = { $number ->
    [one] { $number } result. The fastest: { $fastest }. The soonest: { $soonest }.
   *[other] { $number } results. The fastest: { $fastest }. The soonest: { $soonest }.
 }
