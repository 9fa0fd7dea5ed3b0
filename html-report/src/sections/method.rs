use crate::findings::{Finding, Kind, RULES};
use crate::gathered::Gathered;
use crate::report::{Block, Section};

const GENERAL: &str = "A group is all runs that differ in nothing but their seed. Throughput is samples per second, the median \
                       of windows of at least a second after the warm-up, and over several runs the median of those; where \
                       a run has no window that counts it is all samples over all seconds of training, and is marked with \
                       ≈. No finding is made of such a throughput, or of fewer than five windows. The time of an epoch is \
                       the median of the finished ones, or extrapolated from the windows and marked with ≈. Accuracies \
                       are of the last look at the whole test set. How a run measures stands in docs/METHODOLOGY.md of the \
                       program.";
const CHANCE: &str = "Every difference is compared with what chance explains, at a level of 95 % for each sentence; no correction is \
                      made for there being several sentences, but where a rule says so. With many of them, one in twenty may \
                      call chance a difference.";

const KERNELS: &str = "Kernels by themselves are repeated in windows of about a tenth of a second, three to five of them, each \
                       followed by a window of the fused multiply-adds that are the peak of arithmetic. Results are compared \
                       with plain sums before anything is timed. A share of the peak is that of the operations that the size \
                       needs, and of an entry it is the median over its windows, each with the peak of its own moment.";

/// How each sentence is decided.
pub(super) fn section(gathered: &Gathered<'_>, findings: &[Finding]) -> Section {
    let pairs = RULES.iter().map(|rule| {
        let count = findings.iter().filter(|found| found.rule == rule.title).count();
        let said = match count {
            0 => " It had nothing to say here.".to_owned(),
            1 => String::new(),
            count => format!(" It speaks {count} times."),
        };
        (rule.title.to_owned(), format!("{}{said}", rule.method))
    });
    let kinds = [Kind::Caution, Kind::Difference, Kind::Tie, Kind::Undecided, Kind::Figure, Kind::Published];
    let meaning = |kind: Kind| {
        let text = match kind {
            Kind::Caution => "Something to know before figures are believed.",
            Kind::Difference => "More than chance explains.",
            Kind::Tie => "No more than chance explains, which is at most a tenth of a speed or 2 points of accuracy.",
            Kind::Undecided => {
                "No more than chance explains, which is more than that: more windows or seeds would decide."
            }
            Kind::Figure => "A number that is compared with nothing.",
            Kind::Published => "Beside something that was published, and measured elsewhere.",
        };
        (kind.name().to_owned(), text.to_owned())
    };
    let general = [(GENERAL, gathered.runs().next().is_some()), (KERNELS, !gathered.kernels.is_empty())];
    let general = general.into_iter().filter(|(_, is_needed)| *is_needed).map(|(text, _)| Block::Text(text.to_owned()));
    let rest = [
        Block::Text(CHANCE.to_owned()),
        Block::Heading("Words before findings".to_owned()),
        Block::Pairs(kinds.into_iter().map(meaning).collect()),
        Block::Heading("Rules".to_owned()),
        Block::Pairs(pairs.collect()),
    ];
    Section { title: "Method".to_owned(), blocks: general.chain(rest).collect() }
}
