use results::metric;

/// `value` as every table shows the metric named `id`.
pub(crate) fn figure(id: &str, value: f64) -> String {
    metric(id).unwrap_or_else(|| panic!("{id} is not in the registry of metrics")).text(value)
}

/// Memory, as every table shows it.
pub(crate) fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metrics_that_texts_are_made_of_are_registered() {
        assert_eq!(figure("accuracy", 0.5), "50.00 %");
        assert_eq!(figure("samples_per_second", 10.0), "10.00 samples/s");
        assert_eq!(figure("training_seconds", 2.0), "2.000 s");
    }
}
