//! What to know first of kernels that were measured by themselves.

use results::kernels::Entry;

use crate::gathered::Gathered;
use crate::kernels::title;
use crate::text::{counted_entries, listed, trimmed};

/// Windows that differ by more than this from their median are not steady.
const STEADY: f64 = 0.1;

type Found = Option<(String, Vec<String>)>;

/// A study of kernels that was shortened.
pub(super) fn shortened(gathered: &Gathered<'_>) -> Found {
    let studies = gathered.input.studies.iter().filter(|study| study.measures_kernels && study.scale < 1.0);
    let sentences: Vec<String> = studies
        .map(|study| format!("in {} an entry has {} % of its own seconds", study.name, trimmed(study.scale * 100.0, 4)))
        .collect();
    let text = format!(
        "Shortened: {}. Windows are fewer, and entries that are slow are left out, so medians are those of smaller sizes.",
        listed(&sentences)
    );
    (!sentences.is_empty()).then_some((text, Vec::new()))
}

/// Devices that are programs.
pub(super) fn software(gathered: &Gathered<'_>) -> Found {
    let names: Vec<String> =
        gathered.kernels.iter().filter(|device| device.adapter.software).map(|device| device.name.clone()).collect();
    let verb = if names.len() == 1 { "is a software adapter" } else { "are software adapters" };
    let text = format!(
        "{} {verb}: the processor did the work of a GPU. Its peak is that of the same program, so the share says how well our \
         kernels suit it, and nothing of a GPU.",
        listed(&names)
    );
    (!names.is_empty()).then_some((text, Vec::new()))
}

/// Entries whose windows are far apart.
pub(super) fn unsteady(gathered: &Gathered<'_>) -> Found {
    let records = gathered.kernels.iter().flat_map(|device| &device.records);
    let entries: Vec<&Entry> = records.flat_map(|record| &record.report.entries).collect();
    let spread = |entry: &Entry| Some(entry.outcome.measured()?.timing.relative_spread());
    let measured = entries.iter().filter(|entry| spread(entry).is_some()).count();
    let far: Vec<String> = entries
        .iter()
        .filter_map(|entry| Some((entry, spread(entry).filter(|of| *of > STEADY)?)))
        .map(|(entry, spread)| format!("{}: ±{} %", title(entry), trimmed(spread * 100.0, 1)))
        .collect();
    let text = format!(
        "{} of {} with figures have windows that are more than ±{} % apart: something else was busy, or clocks had not settled.",
        far.len(),
        counted_entries(measured),
        trimmed(STEADY * 100.0, 0)
    );
    (!far.is_empty()).then_some((text, far))
}

/// Entries that computed something wrong.
pub(super) fn wrong(gathered: &Gathered<'_>) -> Found {
    let records = gathered.kernels.iter().flat_map(|device| device.records.iter().map(move |record| (device, record)));
    let entries = records.flat_map(|(device, record)| record.report.entries.iter().map(move |entry| (device, entry)));
    let wrong = entries.filter(|(_, entry)| matches!(entry.outcome, results::kernels::Outcome::Wrong(_)));
    let lines: Vec<String> = wrong
        .map(|(device, entry)| {
            format!("{} on {}: {}", title(entry), device.name, crate::kernels::reason(entry).unwrap_or_default())
        })
        .collect();
    let text =
        format!("{} computed something else than a plain sum gives, and was not timed.", counted_entries(lines.len()));
    (!lines.is_empty()).then_some((text, lines))
}

#[cfg(test)]
mod tests {
    use results::kernels::{Difference, Outcome, Pass};

    use super::*;
    use crate::input::{Input, Study};
    use crate::testing::{input_of_kernels, kernels};

    fn study(scale: f64) -> Study {
        Study {
            name: "s".to_owned(),
            title: "S".to_owned(),
            description: String::new(),
            repeats: None,
            differs: None,
            measures_kernels: true,
            scale,
            planned_cells: 6,
            finished_cells: 6,
        }
    }

    fn text(caution: fn(&Gathered<'_>) -> Found, input: &Input) -> String {
        caution(&Gathered::of(input)).map(|(text, lines)| format!("{text}\n{}", lines.join("\n"))).unwrap_or_default()
    }

    #[test]
    fn what_makes_figures_less_than_they_seem_is_named() {
        let mut all =
            vec![kernels("llvmpipe", &[("8 × 8 × 8", Pass::Forward, Some(0.5)), ("9 × 9 × 9", Pass::Forward, None)])];
        let input = input_of_kernels(all.clone());
        for caution in [shortened, software, unsteady, wrong] {
            assert_eq!(text(caution, &input), "");
        }
        let report = &mut all[0].record.report;
        report.adapter.software = true;
        report.entries[1].outcome = Outcome::Wrong(Difference { at: 1, found: 2.0, expected: 3.0 });
        if let Outcome::Measured(figures) = &mut report.entries[0].outcome {
            figures.timing.seconds_highest *= 2.0;
        }
        let input = Input { studies: vec![study(0.05)], ..input_of_kernels(all) };
        assert!(text(shortened, &input).contains("in s an entry has 5 % of its own seconds"));
        assert!(text(software, &input).contains("llvmpipe is a software adapter"));
        assert!(text(unsteady, &input).contains("1 of 1 entry with figures"), "{}", text(unsteady, &input));
        assert!(
            text(wrong, &input).contains("9 × 9 × 9, forward on llvmpipe: wrong: value 1 is 2e0"),
            "{}",
            text(wrong, &input)
        );
    }
}
