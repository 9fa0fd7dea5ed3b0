### What the leaderboard refuses, by its codes. What has no text here is shown in the words of the server.

refusal_unreachable = the leaderboard cannot be reached: { $reason }
refusal_unexpected = the server answered with something that is not the leaderboard's (status { $status })
refusal_other = { $message } ({ $code })
refusal_at_field = { $message } ({ $code }, at { $field })
refusal_unknown_run = No run with this id is here. It may have been deleted, or the link may be incomplete.
refusal_unknown_comparison = No comparison with this id is here. It may have been deleted, or the link may be incomplete.
refusal_unknown_device = No device with this key is here. Its results may have been deleted.
refusal_busy = The leaderboard has too much to do right now. Wait a few seconds and try again.
refusal_too_many_requests = From your address so much came that the leaderboard asks you to wait. Try again in a
    minute.
refusal_read_only = The leaderboard takes nothing new at the moment. Try again later.
refusal_too_large = The record is larger than the leaderboard takes.
refusal_already_submitted = This run was uploaded before.
refusal_wrong_secret = The secret of this deletion link is not that of the result. Copy the whole link.
refusal_bad_name = The name that was claimed cannot be taken: it may have at most 80 plain characters.
