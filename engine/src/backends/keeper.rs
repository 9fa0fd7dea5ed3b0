use std::fmt::Debug;

/// A place that outlives the program, such as a file or a browser's storage, for what would otherwise be found out again
/// at the next visit. What it loses costs time and nothing else.
pub trait Keeper: Debug + Send + Sync {
    /// What was kept last under this key.
    fn recall(&self, key: &str) -> Option<String>;
    fn keep(&self, key: &str, text: &str);
}
