//! What moderators did, in words.

use results::api::{Deed, ModerationEntry};

use crate::t;
use crate::text::tier;

/// To what something was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    Run { id: String, visible: bool },
    Devices { from: String, into: String },
}

/// To what an entry of the log was done.
pub fn about(entry: &ModerationEntry) -> About {
    match (&entry.device_key, &entry.into_device_key) {
        (Some(from), Some(into)) => About::Devices { from: from.clone(), into: into.clone() },
        _ => About::Run { id: entry.run_id.clone().unwrap_or_default(), visible: entry.run_is_visible },
    }
}

/// What was done, to begin a line.
pub fn deed(entry: &ModerationEntry) -> String {
    match (entry.deed, entry.tier.map(tier)) {
        (Deed::Hide, _) => t!(moderation_hidden).to_owned(),
        (Deed::Flag, _) => t!(moderation_flagged).to_owned(),
        (Deed::Restore, Some(tier)) => t!(moderation_restored, tier = tier),
        (Deed::Restore, None) => t!(moderation_restored_other).to_owned(),
        (Deed::SetTier, Some(tier)) => t!(moderation_set_tier, tier = tier),
        (Deed::SetTier, None) => t!(moderation_set_other_tier).to_owned(),
        (Deed::Remove, _) => t!(moderation_removed).to_owned(),
        (Deed::MergeDevices, _) => t!(moderation_merged).to_owned(),
        (Deed::SeparateDevices, _) => t!(moderation_separated).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use results::api::Tier;

    use super::*;

    fn entry(deed: Deed, tier: Option<Tier>) -> ModerationEntry {
        ModerationEntry {
            done_unix_seconds: 1.8e9,
            deed,
            run_id: Some("0123".to_owned()),
            run_is_visible: true,
            tier,
            device_key: None,
            into_device_key: None,
            reason: None,
        }
    }

    #[test]
    fn a_restored_run_says_what_it_is_again() {
        assert_eq!(deed(&entry(Deed::Restore, Some(Tier::Proven))), "Restored: it is proven again");
        assert_eq!(deed(&entry(Deed::SetTier, Some(Tier::Checked))), "Made checked");
    }

    #[test]
    fn an_entry_is_about_a_run_or_about_two_devices() {
        assert_eq!(about(&entry(Deed::Hide, None)), About::Run { id: "0123".to_owned(), visible: true });
        let merged = ModerationEntry {
            run_id: None,
            device_key: Some("claimed-a".to_owned()),
            into_device_key: Some("a".to_owned()),
            ..entry(Deed::MergeDevices, None)
        };
        assert_eq!(about(&merged), About::Devices { from: "claimed-a".to_owned(), into: "a".to_owned() });
    }
}
