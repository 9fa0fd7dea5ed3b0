use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use engine::{DataError, DataFile, DataSet, DataSetDefinition, DataSource};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{ReadableStreamDefaultReader, RequestCache, RequestInit, Response};

use super::scope::{post, scope};
use crate::FromWorker;
use crate::adapter::describe;

/// Data sets from the server of this page; stories and noise are generated. Each set is downloaded once per run.
#[derive(Default)]
pub(super) struct ServedData {
    loaded: HashMap<&'static str, Arc<DataSet>>,
}

#[async_trait(?Send)]
impl DataSource for ServedData {
    async fn load(&mut self, definition: &'static DataSetDefinition) -> Result<Arc<DataSet>, DataError> {
        if let Some(set) = self.loaded.get(definition.name.as_str()) {
            return Ok(set.clone());
        }
        let set = Arc::new(match definition.compact_files() {
            Some([train, test]) => {
                match fetch_set(definition, train, test, RequestCache::Default).await {
                    // The browser's cache may be corrupted: download again, once.
                    Err(DataError::Altered { .. } | DataError::WrongSize { .. } | DataError::NotADataFile { .. }) => {
                        fetch_set(definition, train, test, RequestCache::Reload).await?
                    }
                    outcome => outcome?,
                }
            }
            // The page has no folder of published stories.
            None => DataSet::generated(definition).expect("stories and images can be made up"),
        });
        self.loaded.insert(&definition.name, set.clone());
        Ok(set)
    }
}

async fn fetch_set(
    definition: &'static DataSetDefinition,
    train: &DataFile,
    test: &DataFile,
    cache: RequestCache,
) -> Result<DataSet, DataError> {
    let (mut loaded_bytes, total_bytes) = (0, train.bytes + test.bytes);
    let mut advance = |bytes: u64| {
        // One message per percent is enough for a progress bar.
        let hundredth = |bytes: u64| bytes * 100 / total_bytes.max(1);
        let before = hundredth(loaded_bytes);
        loaded_bytes += bytes;
        if hundredth(loaded_bytes) > before {
            post(&FromWorker::Loading { loaded_bytes, total_bytes });
        }
    };
    let train = fetch(train, cache, &mut advance).await?;
    let test = fetch(test, cache, &mut advance).await?;
    DataSet::from_files(definition, train, test)
}

/// Downloads a file. Its SHA-256 is in the URL, so a browser may cache it forever.
async fn fetch(file: &DataFile, cache: RequestCache, advance: &mut impl FnMut(u64)) -> Result<Vec<u8>, DataError> {
    let unreadable = |reason: String| DataError::Unreadable { file: file.file.clone(), reason };
    let broken = |error: JsValue| unreadable(describe(&error));
    let address = format!("/data/{}?v={}", file.file, &file.sha256[..16]);
    let options = RequestInit::new();
    options.set_cache(cache);
    let asked = scope().fetch_with_str_and_init(&address, &options);
    let response: Response = JsFuture::from(asked).await.map_err(broken)?.unchecked_into();
    match response.status() {
        200 => {}
        404 => {
            return Err(DataError::Missing { file: file.file.clone(), place: "the server's data folder".to_owned() });
        }
        status => return Err(unreadable(format!("the server answered with status {status}"))),
    }
    let stream = response.body().ok_or_else(|| unreadable("the server's answer is empty".to_owned()))?;
    let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
    let mut bytes = Vec::with_capacity(usize::try_from(file.bytes).unwrap_or(0));
    loop {
        let part = JsFuture::from(reader.read()).await.map_err(broken)?;
        let field = |name: &str| js_sys::Reflect::get(&part, &JsValue::from_str(name)).map_err(broken);
        if field("done")?.is_truthy() {
            return Ok(bytes);
        }
        let chunk: js_sys::Uint8Array = field("value")?.unchecked_into();
        let start = bytes.len();
        bytes.resize(start + chunk.length() as usize, 0);
        chunk.copy_to(&mut bytes[start..]);
        advance(u64::from(chunk.length()));
    }
}
