//! Texts of a card, each short enough to be drawn.

use results::api::{ScoreRank, Tier};
use results::estimate::Estimate;
use results::score_digits;

#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    pub device: ShownDevice,
    /// Client, backend and precision.
    pub how: String,
    /// Score of the suite in GFLOP/s.
    pub score: Option<Estimate>,
    /// Position of the score, if it is compared with others.
    pub rank: Option<ScoreRank>,
    pub tier: Tier,
    pub being_verified: bool,
    pub reason: Option<String>,
    pub suite: String,
    pub date: String,
    pub workloads: Vec<CardWorkload>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ShownDevice {
    /// Text before a name that the platform does not report.
    pub lead: Option<&'static str>,
    pub name: String,
    pub beside: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CardWorkload {
    pub title: String,
    /// Metrics, or the end of a sentence on why there are none.
    pub figures: Result<CardFigures, String>,
    /// Training loss over training seconds.
    pub curve: Vec<(f64, f64)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CardFigures {
    pub rate: String,
    /// Half the width of the rate's interval.
    pub within: Option<String>,
    pub result: CardResult,
    pub target: Option<String>,
    /// Absent if the target was not reached.
    pub seconds_to_target: Option<String>,
    /// Speed of the slowest window as a share of the fastest; absent for one window.
    pub kept: Option<String>,
    pub sustained: bool,
}

/// Result on the test set, of the same kind as the network's target.
#[derive(Clone, Debug, PartialEq)]
pub enum CardResult {
    Accuracy(String),
    /// A loss, and for a text the same in bits per character.
    Loss {
        loss: String,
        bits: Option<String>,
    },
}

impl CardResult {
    /// Returns a text such as `accuracy 98.41 %` or `loss 1.883 (2.717 bits per character)`.
    pub fn in_words(&self) -> String {
        match self {
            Self::Accuracy(accuracy) => format!("accuracy {accuracy}"),
            Self::Loss { loss, bits: None } => format!("loss {loss}"),
            Self::Loss { loss, bits: Some(bits) } => format!("loss {loss} ({bits} bits per character)"),
        }
    }
}

impl Card {
    /// Returns the tier, with a remark if it may still change.
    pub fn tier_in_words(&self) -> String {
        let tier = self.tier.name();
        if self.being_verified { format!("{tier}, being verified") } else { tier.to_owned() }
    }

    pub fn title(&self) -> String {
        let ShownDevice { lead, name, .. } = &self.device;
        lead.map_or_else(|| name.clone(), |lead| format!("{lead} {name}"))
    }

    /// Returns the share of slower devices, and the number of all.
    pub fn rank_in_words(&self) -> Option<[String; 2]> {
        self.rank.map(|rank| [format!("Faster than {}", rank.percent()), format!("of {} devices", rank.devices)])
    }

    /// Returns the content in a few sentences, for readers without the picture.
    pub fn description(&self) -> String {
        let score = self.score.map(|score| format!("Gradmark {} GFLOP/s", score_digits(score.value)));
        let rank = self.rank_in_words().map(|words| words.join(" "));
        let workloads: Vec<String> = self.workloads.iter().map(CardWorkload::sentence).collect();
        let workloads = Some(workloads.join("; ")).filter(|workloads| !workloads.is_empty());
        let sentences = [score, rank, workloads, Some(self.tier_in_words()), Some(self.how.clone())];
        sentences.into_iter().flatten().collect::<Vec<_>>().join(". ")
    }
}

impl CardWorkload {
    /// Returns a text such as `MNIST, LeNet (Caffe): 937 samples/s ± 1.4 %, accuracy 98.41 %, 98 % after 94.30 s`.
    fn sentence(&self) -> String {
        let figures = match &self.figures {
            Err(outcome) => return format!("{} {outcome}", self.title),
            Ok(figures) => figures,
        };
        let within = figures.within.as_ref().map_or_else(String::new, |within| format!(" {within}"));
        let target = match (&figures.target, &figures.seconds_to_target) {
            (Some(target), Some(seconds)) => format!(", {target} after {seconds}"),
            (Some(target), None) => format!(", {target} not reached"),
            (None, _) => String::new(),
        };
        format!("{}: {} samples/s{within}, {}{target}", self.title, figures.rate, figures.result.in_words())
    }
}

impl CardFigures {
    /// Returns the time to the target and the target; the latter is empty if there is none.
    pub(super) fn target_in_words(&self) -> [String; 2] {
        match (&self.target, &self.seconds_to_target) {
            (Some(target), Some(seconds)) => [seconds.clone(), format!("to {target}")],
            (Some(target), None) => ["not yet".to_owned(), format!("at {target}")],
            (None, _) => ["–".to_owned(), String::new()],
        }
    }
}
