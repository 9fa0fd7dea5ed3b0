//! Computes a device's metrics in each category, and its scores, from all its proven runs.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use results::api::{BrowserTaxOfDevice, Completion, DeviceSource, FigureOfDevice, RankedClass};
use results::estimate::Estimate;
use results::{ClientKind, Suite};
use serde::{Deserialize, Serialize};

use crate::ranking::{Category, Histogram, ProvenRun, figure_of, outliers};

/// Maximum number of named outliers. Others are only counted.
const MAX_OUTLIERS: usize = 20;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DeviceDescription {
    pub(crate) key: String,
    pub(crate) name: String,
    pub(crate) source: DeviceSource,
    pub(crate) inferred: Option<String>,
    pub(crate) vendor: Option<String>,
}

/// A proven run of one workload, with the columns that group it.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ProvenResult {
    #[serde(flatten)]
    pub(crate) device: DeviceDescription,
    pub(crate) class: RankedClass,
    #[serde(flatten)]
    pub(crate) category: Category,
    #[serde(flatten)]
    pub(crate) run: ProvenRun,
    /// Training time until the target; `None` if it was not reached.
    pub(crate) seconds_to_target: Option<f64>,
    pub(crate) submitter: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DeviceFigure {
    pub(crate) device: DeviceDescription,
    pub(crate) class: RankedClass,
    /// The category. An empty workload means the score of the suite.
    pub(crate) category: Category,
    pub(crate) figure: FigureOfDevice,
    /// Median time until the target; `None` if most runs did not reach it, and for scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seconds_to_target: Option<f64>,
    /// Share of the submitters' announced runs that were finished; `None` without known submitters.
    pub(crate) completion: Option<Completion>,
    pub(crate) outlier_runs: u64,
    pub(crate) outliers: Vec<String>,
    pub(crate) best_run_id: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MadeFigure {
    pub(crate) line: DeviceFigure,
    pub(crate) rates: Histogram,
}

pub(crate) type Completions = HashMap<(String, Suite), Completion>;

/// Returns the metrics of a device from all its proven runs in order of submission.
pub(crate) fn figures_of(results: Vec<ProvenResult>, completions: &Completions) -> Vec<MadeFigure> {
    let mut categories: BTreeMap<_, Vec<ProvenResult>> = BTreeMap::new();
    for result in results {
        let Category { suite, workload, backend, precision, client_kind } = &result.category;
        let kernels = (backend.clone(), precision.name(), client_kind.name());
        let key = (suite.name.clone(), suite.version, result.class.name(), workload.clone(), kernels);
        categories.entry(key).or_default().push(result);
    }
    let mut figures: Vec<MadeFigure> = categories.values().filter_map(|results| figure(results, completions)).collect();
    let scores = scores(figures.iter().map(|made| &made.line));
    figures.extend(scores.into_iter().map(|line| MadeFigure { line, rates: Histogram::default() }));
    figures
}

fn figure(results: &[ProvenResult], completions: &Completions) -> Option<MadeFigure> {
    let runs: Vec<ProvenRun> = results.iter().map(|result| result.run.clone()).collect();
    let rates: Vec<f64> = runs.iter().map(|run| run.rate).collect();
    let marked = outliers(&rates);
    let usual = results.iter().zip(&marked).filter(|(_, marked)| !**marked).map(|(result, _)| result);
    let best = usual.max_by(|a, b| a.run.rate.total_cmp(&b.run.rate)).or(results.first())?;
    let apart = runs.iter().zip(&marked).filter(|(_, marked)| **marked).map(|(run, _)| run.run_id.clone());
    let guesses: BTreeSet<&String> = results.iter().filter_map(|result| result.device.inferred.as_ref()).collect();
    let line = DeviceFigure {
        device: DeviceDescription {
            // The weakest source of the name.
            source: results.iter().map(|result| result.device.source).max()?,
            inferred: guesses.first().filter(|_| guesses.len() == 1).map(|guess| (*guess).clone()),
            ..best.device.clone()
        },
        class: best.class,
        category: best.category.clone(),
        figure: figure_of(&runs)?,
        seconds_to_target: seconds_to_target(results),
        completion: completion(results, completions),
        outlier_runs: marked.iter().filter(|marked| **marked).count() as u64,
        outliers: apart.take(MAX_OUTLIERS).collect(),
        best_run_id: best.run.run_id.clone(),
    };
    Some(MadeFigure { line, rates: Histogram::of(rates) })
}

/// Returns the median time until the target, over voices. Runs that did not reach it count as the slowest.
fn seconds_to_target(results: &[ProvenResult]) -> Option<f64> {
    let mut voices: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for result in results {
        let seconds = result.seconds_to_target.unwrap_or(f64::INFINITY);
        voices.entry((result.run.day, &result.run.voice)).or_default().push(seconds);
    }
    // The upper one of two in the middle: a mean with infinity is no time.
    let median = |mut seconds: Vec<f64>| {
        seconds.sort_by(f64::total_cmp);
        seconds.get(seconds.len() / 2).copied()
    };
    median(voices.into_values().filter_map(median).collect()).filter(|seconds| seconds.is_finite())
}

fn completion(results: &[ProvenResult], completions: &Completions) -> Option<Completion> {
    let suite = &results.first()?.category.suite;
    let submitters: BTreeSet<&String> = results.iter().filter_map(|result| result.submitter.as_ref()).collect();
    let known: Vec<&Completion> =
        submitters.into_iter().filter_map(|word| completions.get(&(word.clone(), suite.clone()))).collect();
    (!known.is_empty()).then(|| Completion {
        finished: known.iter().map(|completion| completion.finished).sum(),
        announced: known.iter().map(|completion| completion.announced).sum(),
    })
}

fn scores<'a>(figures: impl Iterator<Item = &'a DeviceFigure>) -> Vec<DeviceFigure> {
    let mut complete: BTreeMap<_, Vec<&DeviceFigure>> = BTreeMap::new();
    for figure in figures {
        let Category { suite, backend, precision, client_kind, .. } = &figure.category;
        let kernels = (backend, precision.name(), client_kind.name());
        complete.entry((&suite.name, suite.version, figure.class.name(), kernels)).or_default().push(figure);
    }
    complete.into_values().filter_map(|figures| score(&figures)).collect()
}

fn score(figures: &[&DeviceFigure]) -> Option<DeviceFigure> {
    let first = figures.first()?;
    let over = |value: fn(&FigureOfDevice) -> f64| {
        let throughput = |name: &str| {
            let line = figures.iter().find(|line| line.category.workload == name)?;
            Estimate::new(Some(value(&line.figure)), None, None)
        };
        engine::score_of(&first.category.suite, throughput).map(|score| score.value)
    };
    let fewest = |count: fn(&FigureOfDevice) -> u64| figures.iter().map(|figure| count(&figure.figure)).min();
    Some(DeviceFigure {
        category: Category { workload: String::new(), ..first.category.clone() },
        figure: FigureOfDevice {
            median: over(|figure| figure.median)?,
            lower_quartile: over(|figure| figure.lower_quartile)?,
            upper_quartile: over(|figure| figure.upper_quartile)?,
            runs: fewest(|figure| figure.runs)?,
            submitters: fewest(|figure| figure.submitters)?,
            days: fewest(|figure| figure.days)?,
        },
        seconds_to_target: None,
        outlier_runs: 0,
        outliers: Vec::new(),
        ..(*first).clone()
    })
}

/// Returns the slowdown in browsers for each suite, workload, backend and precision with metrics of both clients.
pub(crate) fn browser_taxes(figures: &[DeviceFigure]) -> Vec<BrowserTaxOfDevice> {
    let mut pairs: BTreeMap<_, [Option<&DeviceFigure>; 2]> = BTreeMap::new();
    for line in figures.iter().filter(|line| !line.category.workload.is_empty()) {
        let Category { suite, workload, backend, precision, client_kind } = &line.category;
        let place = usize::from(*client_kind == ClientKind::Browser);
        let kernels = (&suite.name, suite.version, workload, backend, precision.name());
        pairs.entry(kernels).or_default()[place] = Some(line);
    }
    let tax = |[native, browser]: [Option<&DeviceFigure>; 2]| {
        let Category { suite, workload, backend, precision, .. } = native?.category.clone();
        let (native, browser) = (&native?.figure, &browser?.figure);
        (browser.median > 0.0).then(|| BrowserTaxOfDevice {
            suite,
            workload,
            backend,
            precision,
            native_over_browser: native.median / browser.median,
            native_submitters: native.submitters,
            browser_submitters: browser.submitters,
        })
    };
    pairs.into_values().filter_map(tax).collect()
}

#[cfg(test)]
mod tests {
    use results::Precision;

    use super::*;

    fn result(rate: f64, submitter: &str) -> ProvenResult {
        let (key, name) = ("card".to_owned(), "Card".to_owned());
        let device = DeviceDescription { key, name, source: DeviceSource::Reported, inferred: None, vendor: None };
        let suite = Suite { name: "quick".to_owned(), version: 1 };
        let (workload, backend) = ("a".to_owned(), "wgsl".to_owned());
        let (precision, client_kind) = (Precision::F32, ClientKind::Native);
        let category = Category { suite, workload, backend, precision, client_kind };
        let submitter = Some(submitter.to_owned());
        let run = ProvenRun { run_id: rate.to_string(), rate, voice: submitter.clone(), day: 7 };
        ProvenResult { device, class: RankedClass::Gpu, category, run, seconds_to_target: None, submitter }
    }

    #[test]
    fn time_to_target_is_absent_where_most_miss_it() {
        let of = |seconds: &[(&str, Option<f64>)]| {
            let results = seconds.iter().map(|(submitter, seconds_to_target)| ProvenResult {
                seconds_to_target: *seconds_to_target,
                ..result(1.0, submitter)
            });
            seconds_to_target(&results.collect::<Vec<_>>())
        };
        assert_eq!(of(&[("ann", Some(9.0)), ("ann", Some(9.0)), ("bob", Some(3.0)), ("eve", Some(4.0))]), Some(4.0));
        assert_eq!(of(&[("ann", None), ("bob", Some(3.0)), ("eve", Some(4.0))]), Some(4.0));
        assert_eq!(of(&[("ann", None), ("bob", None), ("eve", Some(4.0))]), None);
    }

    #[test]
    fn many_outliers_are_counted_and_some_are_named() {
        let usual = (0..200_u32).map(|i| result(100.0 + f64::from(i % 10), "ann"));
        let figures = figures_of(usual.chain((0..30).map(|_| result(9000.0, "bob"))).collect(), &Completions::new());
        assert_eq!((figures[0].line.outlier_runs, figures[0].line.outliers.len()), (30, MAX_OUTLIERS));
    }

    #[test]
    fn completion_covers_all_submitters_of_the_suite() {
        let suite = Suite { name: "quick".to_owned(), version: 1 };
        let other = Suite { name: "complete".to_owned(), version: 1 };
        let completions: Completions = [
            (("ann".to_owned(), suite.clone()), Completion { finished: 3, announced: 20 }),
            (("bob".to_owned(), suite.clone()), Completion { finished: 1, announced: 1 }),
            (("ann".to_owned(), other), Completion { finished: 9, announced: 9 }),
            (("eve".to_owned(), suite), Completion { finished: 9, announced: 9 }),
        ]
        .into();
        let results = vec![result(1.0, "ann"), result(2.0, "ann"), result(3.0, "bob")];
        let completion = figures_of(results, &completions)[0].line.completion;
        assert_eq!(completion, Some(Completion { finished: 4, announced: 21 }));
    }
}
