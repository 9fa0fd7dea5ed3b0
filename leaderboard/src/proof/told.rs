/// A checkpoint as it was told, with this server's own times.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Told {
    pub(crate) workload: String,
    /// From 0 within the workload.
    pub(crate) number: u32,
    pub(crate) step: u64,
    pub(crate) weights_sha256: String,
    pub(crate) measured_sha256: String,
    pub(crate) is_last: bool,
    pub(crate) told_unix_seconds: f64,
    pub(crate) weights_wanted: bool,
    /// When the weights came, where they were asked for.
    pub(crate) shown_unix_seconds: Option<f64>,
}
