### Downloads of leaderboard data.

exports_label = Files
exports_of_runs = Download the results behind this table:
