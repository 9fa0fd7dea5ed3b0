//! What moderators did, for anyone to read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Tier;

/// Query of the moderation log; everything is optional.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModerationQuery {
    /// At most this many entries, 1 to 500; 100 when absent.
    pub limit: Option<u32>,
    /// Entries to leave out at the start, at most 10,000.
    pub offset: Option<u32>,
}

/// A page of the moderation log, the newest entry first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModerationLog {
    pub entries: Vec<ModerationEntry>,
    /// Entries there are without `limit` and `offset`. Counting ends at 10,000.
    pub total: u64,
    /// Whether there are more than `total`.
    pub more_than_total: bool,
}

/// What a moderator did to one run, or to one device. It outlives the run, and holds nothing of its record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModerationEntry {
    pub done_unix_seconds: f64,
    pub deed: Deed,
    /// The run, where it was done to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// Whether the run has a page now.
    pub run_is_visible: bool,
    /// What the run has been since then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
    /// The device that was merged into another one, or separated from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_key: Option<String>,
    /// That other one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into_device_key: Option<String>,
    /// In the moderator's own words; absent where none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What moderators can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// Took a run off the lists and its own page.
    Hide,
    /// Gave a hidden or flagged run back what it was of its own.
    Restore,
    /// Marked a run as doubtful, so that it is not ranked.
    Flag,
    /// Gave a run a tier.
    SetTier,
    /// Deleted a run for ever.
    Remove,
    /// Counts a device's runs as those of another one.
    MergeDevices,
    /// Counts them as its own again.
    SeparateDevices,
}

impl Deed {
    const ALL: [Self; 7] =
        [Self::Hide, Self::Restore, Self::Flag, Self::SetTier, Self::Remove, Self::MergeDevices, Self::SeparateDevices];

    /// As it is written on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hide => "hide",
            Self::Restore => "restore",
            Self::Flag => "flag",
            Self::SetTier => "set_tier",
            Self::Remove => "remove",
            Self::MergeDevices => "merge_devices",
            Self::SeparateDevices => "separate_devices",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|deed| deed.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_deed_is_called_on_the_wire_as_in_the_data_base() {
        for deed in Deed::ALL {
            assert_eq!(serde_json::to_value(deed).unwrap(), deed.name());
            assert_eq!(Deed::named(deed.name()), Some(deed));
        }
        assert_eq!(Deed::named("forgive"), None);
    }
}
