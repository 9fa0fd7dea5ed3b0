### What the leaderboard refuses, by its codes. What has no text here is shown in the words of the server.

refusal_offline = you are offline
refusal_unreachable = the server cannot be reached
refusal_unexpected = the server's response is not from the leaderboard (status { $status })
refusal_busy = The leaderboard is busy. Try again in a minute.
refusal_read_only = The leaderboard accepts no uploads at the moment. Try again later.
refusal_too_large = The record exceeds the size limit of the leaderboard.
refusal_already_submitted = This run is already uploaded.
refusal_wrong_secret = This deletion link does not belong to the result. Copy the whole link.
refusal_bad_name = The name may have at most 80 plain characters.
