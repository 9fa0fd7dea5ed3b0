//! Choices of tuned kernels, stored for the user.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use engine::backends::Keeper;

use crate::json_output::replace_file;
use crate::machine::cache;

/// File of keys and texts. If it cannot be read or written, kernels are tuned again in the next run.
#[derive(Debug)]
pub(crate) struct KeptFile {
    path: PathBuf,
    forgets: bool,
}

impl KeptFile {
    pub(crate) fn of_the_user(forgets: bool) -> Option<Arc<dyn Keeper>> {
        Some(Arc::new(Self { path: cache()?.join("tuning.json"), forgets }))
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
        let json = serde_json::to_vec_pretty(&all).expect("texts are always JSON");
        // Several programs may write at the same time; the last one wins.
        let written = self.path.parent().map_or(Ok(()), fs::create_dir_all);
        let _ = written.and_then(|()| replace_file(&self.path, &json));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_text_is_recalled_by_key_unless_ignored() {
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
