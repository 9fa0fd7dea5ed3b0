### Results of a network as points.

scatter_title = Speed and time to target
scatter_left_out = { $number ->
    [one] { $number } listed result has no point: it did not reach the target, or has no stable speed.
   *[other] { $number } listed results have no point: they did not reach the target, or have no stable speed.
 }
scatter_hint = Point at a result, or move to it with the keyboard, to see its name. Select it to open the result.
scatter_over = over seconds of training until the target, both logarithmic
scatter_point = { $device }, { $backend }: { $rate } samples per second, target after { $seconds }
scatter_described = { $number ->
    [one] { $number } result. The fastest: { $fastest }. The soonest: { $soonest }.
   *[other] { $number } results. The fastest: { $fastest }. The soonest: { $soonest }.
 }
