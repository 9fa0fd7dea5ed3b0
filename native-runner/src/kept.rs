//! What was found out about a device, in a file of the user's cache.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use engine::backends::Keeper;

use crate::published_data::cache;

/// A file of keys and texts. One that cannot be read holds nothing, and one that cannot be written keeps nothing: then
/// kernels are timed again the next time.
#[derive(Debug)]
pub(crate) struct KeptFile {
    path: PathBuf,
    /// Whether what is there is to be found out again.
    forgets: bool,
}

impl KeptFile {
    /// That of the user, if there is a place for one.
    pub(crate) fn of_the_user(forgets: bool) -> Option<Arc<dyn Keeper>> {
        let path = cache()?.join("tuning.json");
        Some(Arc::new(Self { path, forgets }))
    }

    fn all(&self) -> BTreeMap<String, String> {
        fs::read(&self.path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }
}

impl Keeper for KeptFile {
    fn recall(&self, key: &str) -> Option<String> {
        let kept = if self.forgets { None } else { self.all().remove(key) };
        tracing::debug!(key, ?kept, "tuning recalled from {}", self.path.display());
        kept
    }

    fn keep(&self, key: &str, text: &str) {
        tracing::debug!(key, text, "tuning kept in {}", self.path.display());
        let mut all = self.all();
        all.insert(key.to_owned(), text.to_owned());
        let partial = self.path.with_extension(format!("partial-{}", std::process::id()));
        let json = serde_json::to_vec_pretty(&all).expect("texts are always JSON");
        // Under another name until it is whole; several programs may do this at the same time, and the last one wins.
        let written = self.path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&partial, json));
        if written.and_then(|()| fs::rename(&partial, &self.path)).is_err() {
            // What cannot be removed either is in nobody's way.
            let _ = fs::remove_file(&partial);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_recalled_by_its_key_until_it_is_to_be_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/tuning.json");
        let file = |forgets| KeptFile { path: path.clone(), forgets };
        assert_eq!(file(false).recall("a device"), None);
        file(false).keep("a device", "fast");
        file(true).keep("another", "slow");
        assert_eq!(file(false).recall("a device").as_deref(), Some("fast"));
        assert_eq!(file(false).recall("another").as_deref(), Some("slow"));
        assert_eq!(file(true).recall("a device"), None);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        fs::write(&path, b"{ half of it").unwrap();
        assert_eq!(file(false).recall("a device"), None);
    }
}
