### What is chosen on the leaderboard as files.

exports_label = Files
exports_of_runs = Download all of these results:
exports_of_devices = Download the proven runs behind these places:
