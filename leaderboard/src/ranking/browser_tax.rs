//! What a browser costs: the same kernels on the same device, from the command line and in a page.

use std::collections::BTreeMap;

use results::{ClientKind, Precision, Suite};

use super::DeviceFigure;

/// How much faster the command line is on one device, with equal kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct BrowserTax {
    /// The key of the device's group.
    pub device: String,
    pub suite: Suite,
    pub workload: String,
    pub backend: String,
    pub precision: Precision,
    /// Median rate of the command line over that of browsers: 1.25 means that a browser trains a fifth slower.
    pub native_over_browser: f64,
    /// Submitters behind the two medians, native and browser: with few of them the ratio is one of machines.
    pub submitters: (usize, usize),
}

/// The tax of each device, suite, workload, back end and precision that has a figure of either kind of client, in the order
/// of these. One figure alone compares with nothing.
pub fn browser_taxes(figures: &[DeviceFigure]) -> Vec<BrowserTax> {
    let mut pairs: BTreeMap<_, [Option<&DeviceFigure>; 2]> = BTreeMap::new();
    for entry in figures {
        let DeviceFigure { device, category, .. } = entry;
        let suite = (category.suite.name.as_str(), category.suite.version);
        let kernels = (category.backend.as_str(), category.precision.name());
        let place = usize::from(category.client_kind == ClientKind::Browser);
        pairs.entry((device, suite, category.workload.as_str(), kernels)).or_default()[place] = Some(entry);
    }
    pairs.into_values().filter_map(|[native, browser]| tax(native?, browser?)).collect()
}

fn tax(native: &DeviceFigure, browser: &DeviceFigure) -> Option<BrowserTax> {
    let DeviceFigure { device, category, figure: native } = native;
    let browser = &browser.figure;
    (browser.median > 0.0).then(|| BrowserTax {
        device: device.clone(),
        suite: category.suite.clone(),
        workload: category.workload.clone(),
        backend: category.backend.clone(),
        precision: category.precision,
        native_over_browser: native.median / browser.median,
        submitters: (native.submitters, browser.submitters),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Category, Figure};
    use super::*;

    fn figure(device: &str, backend: &str, precision: Precision, client_kind: ClientKind, median: f64) -> DeviceFigure {
        let category = Category {
            suite: Suite { name: "quick".to_owned(), version: 1 },
            workload: "keras-mnist-mlp".to_owned(),
            backend: backend.to_owned(),
            precision,
            client_kind,
        };
        let figure = Figure { median, lower_quartile: median, upper_quartile: median, runs: 3, submitters: 2, days: 1 };
        DeviceFigure { device: device.to_owned(), category, figure }
    }

    #[test]
    fn the_tax_is_native_over_browser_of_the_same_kernels() {
        let taxes = browser_taxes(&[
            figure("card", "wgsl", Precision::F32, ClientKind::Browser, 800.0),
            figure("card", "wgsl", Precision::F32, ClientKind::Native, 1000.0),
        ]);
        assert_eq!(
            taxes.iter().map(|tax| (tax.native_over_browser, tax.submitters)).collect::<Vec<_>>(),
            [(1.25, (2, 2))]
        );
    }

    #[test]
    fn other_kernels_and_other_devices_are_not_compared() {
        let taxes = browser_taxes(&[
            figure("card", "wgsl", Precision::F32, ClientKind::Native, 1000.0),
            figure("card", "burn-wgpu", Precision::F32, ClientKind::Browser, 800.0),
            figure("card", "wgsl", Precision::F16, ClientKind::Browser, 800.0),
            figure("another", "wgsl", Precision::F32, ClientKind::Browser, 800.0),
        ]);
        assert!(taxes.is_empty(), "{taxes:?}");
    }
}
