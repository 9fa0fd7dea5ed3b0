### What is chosen on the leaderboard as files.

exports_label = Files
exports_of_runs = Download the results behind this table:
