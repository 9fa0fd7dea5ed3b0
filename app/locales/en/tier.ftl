### How far a result is to be trusted.

tier_proven = proven
tier_checked = checked
tier_unverified = unverified
tier_flagged = flagged
tier_hidden = hidden
tier_verifying = being verified
tier_proven_meaning = The leaderboard timed the training while it went on, and computed random parts of it again.
tier_checked_meaning = All bounds and summaries hold, but not all of it could be proven, so it is not ranked.
tier_unverified_meaning = The leaderboard gave this run no seed, so it cannot be checked.
tier_flagged_meaning = Something is implausible; a person will look at it.
tier_hidden_meaning = This result is not shown in the table.
tier_verifying_meaning = The leaderboard computes parts of the training again, which takes a few seconds.
tier_log = Whatever moderators did is in the { $log }.
tier_log_link = moderation log
