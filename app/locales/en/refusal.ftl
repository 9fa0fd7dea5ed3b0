### What the leaderboard refuses, by its codes. What has no text here is shown in the words of the server.

refusal_unreachable = the leaderboard cannot be reached: { $reason }
refusal_unexpected = the server sent something that is not the leaderboard's response (status { $status })
refusal_other = { $message } ({ $code })
refusal_at_field = { $message } ({ $code }, at { $field })
refusal_unknown_run = No run has this id. It may have been deleted, or the link may be incomplete.
refusal_unknown_comparison = No comparison has this id. It may have been deleted, or the link may be incomplete.
refusal_unknown_device = No device has this key. Its results may have been deleted.
refusal_busy = The leaderboard is busy. Wait a few seconds and try again.
refusal_too_many_requests = Your address sent too many requests. Try again in a minute.
refusal_read_only = The leaderboard accepts no uploads at the moment. Try again later.
refusal_too_large = The record exceeds the size limit of the leaderboard.
refusal_already_submitted = This run is already uploaded.
refusal_wrong_secret = This deletion link does not belong to the result. Copy the whole link.
refusal_bad_name = The claimed name is invalid: it may have at most 80 plain characters.
