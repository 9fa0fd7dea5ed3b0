use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a batch of images lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// Samples, height, width, channels: channels last.
    Nhwc,
    /// Samples, channels, height, width: channels first.
    Nchw,
}

impl Layout {
    pub const ALL: [Self; 2] = [Self::Nhwc, Self::Nchw];

    /// As it is typed, and as records have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nhwc => "nhwc",
            Self::Nchw => "nchw",
        }
    }
}

impl FromStr for Layout {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|layout| layout.name() == text).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            format!("there is no layout `{text}`; there are: {known}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_is_found_by_its_name_and_others_are_told_which_there_are() {
        for layout in Layout::ALL {
            assert_eq!(layout.name().parse(), Ok(layout));
        }
        assert_eq!("chwn".parse::<Layout>().unwrap_err(), "there is no layout `chwn`; there are: nhwc, nchw");
    }
}
