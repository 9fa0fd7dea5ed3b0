//! Fastest backend of a comparison and its lead over the next one.

use super::{Comparison, Contender, rates};
use crate::RunRecord;
use crate::estimate::{Estimate, Interval};
use crate::regression;
use crate::summary::MeasuredWorkload;

/// Lead of the fastest backend.
#[derive(Clone, Debug, PartialEq)]
pub struct Lead {
    pub fastest: Contender,
    pub next: Contender,
    /// Throughput ratio of the fastest to the next; over several networks, the geometric mean of the ratios.
    pub ratio: Estimate,
}

/// Finds the two fastest backends among those with a throughput for every network. `None` if there are fewer than two.
///
/// Over several networks, the relative half-widths are independent, so the interval adds them in quadrature.
pub fn lead(comparisons: &[Comparison], records: &[RunRecord]) -> Option<Lead> {
    let logarithm = |of: &Comparison, contender: &Contender| {
        let row = of.rows.iter().find(|row| row.contender == *contender)?;
        row.figures.as_ref()?.samples_per_second.filter(|rate| *rate > 0.0).map(f64::ln)
    };
    let rows = &comparisons.first()?.rows;
    let sum = |contender: &Contender| comparisons.iter().map(|of| logarithm(of, contender)).sum::<Option<f64>>();
    let mut ranked: Vec<(f64, &Contender)> =
        rows.iter().filter_map(|row| Some((sum(&row.contender)?, &row.contender))).collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
    let [(_, fastest), (_, next), ..] = ranked[..] else { return None };
    let ratios = comparisons.iter().map(|of| {
        let all = records.iter().flat_map(MeasuredWorkload::all);
        let runs: Vec<MeasuredWorkload<'_>> = all.filter(|run| run.workload.workload == of.workload).collect();
        regression::ratio(&rates(next, &runs), &rates(fastest, &runs))
    });
    let ratio = geometric_mean(&ratios.collect::<Option<Vec<Estimate>>>()?);
    Some(Lead { fastest: fastest.clone(), next: next.clone(), ratio })
}

/// Returns the geometric mean of positive ratios, or the ratio itself if there is only one.
fn geometric_mean(ratios: &[Estimate]) -> Estimate {
    if let [ratio] = ratios {
        return *ratio;
    }
    let count = ratios.len() as f64;
    let value = (ratios.iter().map(|ratio| ratio.value.ln()).sum::<f64>() / count).exp();
    let squared = |of: Interval| ((of.high / of.low).ln() / 2.0 / count).powi(2);
    let variance = ratios.iter().map(|ratio| ratio.interval.map(squared)).sum::<Option<f64>>();
    let interval = variance
        .map(f64::sqrt)
        .map(|half_width| Interval { low: value * (-half_width).exp(), high: value * half_width.exp() });
    Estimate { value, interval }
}
