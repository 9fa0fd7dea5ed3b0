//! What DeepBench's page says of the kernels that are measured here: `reference/published-kernels.json`.

use std::sync::LazyLock;

use results::kernels::{Entry, Pass, Suite};
use serde::Deserialize;

/// A row of one of its tables of training results.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PublishedKernel {
    source: String,
    pub(crate) table: String,
    suite: Suite,
    /// As the table says it.
    pub(crate) operation: String,
    /// What we call it; absent where it is not measured here.
    #[serde(default)]
    size: Option<String>,
    pass: Pass,
    pub(crate) hardware: String,
    teraflops: f64,
    pub(crate) time_ms: f64,
    #[serde(default)]
    pub(crate) note: Option<String>,
}

static ALL: LazyLock<Vec<PublishedKernel>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../reference/published-kernels.json")).expect("the file is checked in")
});

/// What was published of the same size and pass, if anything was.
pub(crate) fn beside(entry: &Entry) -> Option<&'static PublishedKernel> {
    ALL.iter()
        .find(|row| (row.suite, row.size.as_deref(), row.pass) == (entry.suite, Some(entry.size.as_str()), entry.pass))
}

/// The sizes that have a published figure, with their suite.
pub fn sizes() -> impl Iterator<Item = (Suite, &'static str)> {
    ALL.iter().filter_map(|row| Some((row.suite, row.size.as_deref()?)))
}

impl PublishedKernel {
    pub(crate) fn flops_per_second(&self) -> f64 {
        self.teraflops * 1e12
    }

    /// Who published it, and when.
    pub(crate) fn citation(&self) -> String {
        let (name, rest) = self.source.split_once(", ").unwrap_or((&self.source, ""));
        let year = rest.rsplit(", ").next().unwrap_or_default();
        format!("{name}, {}, {year}", self.table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_follow_from_sizes_and_times_where_the_time_is_of_the_forward_pass() {
        let products: Vec<&PublishedKernel> = ALL.iter().filter(|row| row.suite == Suite::Gemm).collect();
        assert_eq!((ALL.len(), products.len(), sizes().count()), (14, 5, 9));
        for row in products {
            let numbers = row.operation.split(", ").map(|part| part.split('=').nth(1).unwrap().parse::<f64>().unwrap());
            let flops = 2.0 * numbers.product::<f64>();
            // Times are rounded to hundredths of a millisecond.
            let rate = |milliseconds: f64| flops / (milliseconds / 1e3);
            let (low, high) = (rate(row.time_ms + 0.0051), rate(row.time_ms - 0.0051));
            let published = row.flops_per_second();
            assert!(published > 0.98 * low && published < 1.02 * high, "{row:?}: {low:e} to {high:e}");
        }
    }

    #[test]
    fn a_row_says_who_and_when() {
        assert_eq!(ALL[0].citation(), "DeepBench, GEMM Results, 2017");
    }
}
