### What moderators did.

moderation_restored = Restored
moderation_set_tier = Tier changed
moderation_removed = Permanently deleted
moderation_merged = Merged: the first counts as the second
moderation_separated = Separated: each counts on its own again
moderation_explanation = The leaderboard judges runs by rules. When its hosts hide or flag a run themselves, or
    merge two devices, this log lists it with the reason, even after the run is deleted.
moderation_nothing = Nothing yet: all runs and devices follow the rules.
moderation_log = Moderation log
moderation_what = Action
moderation_to_what = Run or device
moderation_why = Reason
