/// Returns the L2 norm.
pub(crate) fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

pub(crate) fn doubles<'a>(values: impl IntoIterator<Item = &'a f32>) -> impl Iterator<Item = f64> {
    values.into_iter().copied().map(f64::from)
}
