### What moderators did.

moderation_hidden = Hidden
moderation_flagged = Flagged, so not ranked
moderation_restored = Restored: it is { $tier } again
moderation_restored_other = Restored to its earlier tier
moderation_set_tier = Made { $tier }
moderation_set_other_tier = Moved to another tier
moderation_removed = Permanently deleted
moderation_merged = Merged: the first counts as the second
moderation_separated = Separated: each counts on its own again
moderation_title = Actions of moderators
moderation_explanation = The leaderboard judges runs by rules. When its hosts hide or flag a run themselves, or
    merge two devices, this log lists it with the reason, even after the run is deleted.
moderation_not_shown = The log cannot be shown: { $reason }.
moderation_nothing = Nothing yet: all runs and devices follow the rules.
moderation_log = Moderation log
moderation_what = Action
moderation_to_what = Run or device
moderation_why = Reason
moderation_run = run { $id }
moderation_gone = no longer shown
moderation_and = and { $device }
moderation_no_reason = No reason given
