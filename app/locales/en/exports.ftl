### What is chosen on the leaderboard as files.

exports_label = Files
exports_of_runs = These results, all of them, as a file:
exports_of_devices = The proven runs behind these places as a file:
