### How far a result is to be trusted.

tier_proven = proven
tier_checked = checked
tier_unverified = unverified
tier_flagged = flagged
tier_hidden = hidden
tier_verifying = being verified
tier_proven_meaning = The leaderboard timed the training as it ran, and recomputed random parts of it.
tier_checked_meaning = The record passed all checks, but could not be fully proven, so it is not ranked.
tier_unverified_meaning = The leaderboard gave this run no seed, so it cannot be checked.
tier_flagged_meaning = Something is implausible; a person will review it.
tier_hidden_meaning = This result is not shown in the table.
tier_verifying_meaning = The leaderboard is recomputing parts of the training, which takes a few seconds.
