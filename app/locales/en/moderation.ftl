### What moderators did.

moderation_hidden = Hidden
moderation_flagged = Flagged, so that it is not ranked
moderation_restored = Restored: it is { $tier } again
moderation_restored_other = Restored: it is another tier again
moderation_set_tier = Made { $tier }
moderation_set_other_tier = Made another tier
moderation_removed = Deleted for ever
moderation_merged = Merged: the one counts as the other
moderation_separated = Separated: each counts for itself again
moderation_title = What moderators did
moderation_explanation = The leaderboard judges runs by rules. Where its hosts hide or flag a run all the same, or
    say that two devices are one, it stands here with the reason, and stays here when the run is deleted.
moderation_not_shown = The log cannot be shown: { $reason }.
moderation_nothing = Nothing yet: every run and every device is as the rules have it.
moderation_log = Moderation log
moderation_what = What was done
moderation_to_what = To what
moderation_why = Why
moderation_run = run { $id }
moderation_gone = not shown any more
moderation_and = and { $device }
moderation_no_reason = No reason given
