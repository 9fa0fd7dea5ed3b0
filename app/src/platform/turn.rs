//! One run at a time in a browser: two tabs that train at once would measure each other.

use gloo_timers::future::TimeoutFuture;
use js_sys::{Function, Object, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use super::{property, window};

const NAME: &str = "gradmark.run";

/// A lock that this tab has just given back takes the browser a moment.
const TRIES: u32 = 10;
const PAUSE_MILLISECONDS: u32 = 100;

/// This tab's turn, until it is dropped. Browsers end it as well when the tab is closed or crashes.
pub(crate) struct Turn {
    release: Option<Function>,
}

impl Turn {
    /// Takes the turn; nothing where another tab has it. A browser without locks lets everybody go at once.
    pub(crate) async fn take() -> Option<Self> {
        for _ in 0..TRIES {
            if let Some(turn) = Self::try_once().await {
                return Some(turn);
            }
            TimeoutFuture::new(PAUSE_MILLISECONDS).await;
        }
        None
    }

    /// Web Locks: <https://w3c.github.io/web-locks/>, which gives a lock until a promise is kept.
    async fn try_once() -> Option<Self> {
        let locks = property(&window().navigator(), "locks");
        let Ok(request) = property(&locks, "request").dyn_into::<Function>() else {
            return Some(Self { release: None });
        };
        let mut release = None;
        let until = Promise::new(&mut |keep, _| release = Some(keep));
        let options = Object::new();
        drop(Reflect::set(&options, &"ifAvailable".into(), &true.into()));
        // Said when the browser has decided: it holds the lock until what the callback returns is kept.
        let mut said = None;
        let decided = Promise::new(&mut |keep, _| said = Some(keep));
        let say = said?;
        let refused = say.clone();
        let callback = Closure::once_into_js(move |lock: JsValue| -> JsValue {
            drop(say.call1(&JsValue::UNDEFINED, &lock.is_object().into()));
            if lock.is_object() { until.into() } else { JsValue::UNDEFINED }
        });
        let Ok(asked) = request.call3(&locks, &NAME.into(), &options, &callback) else {
            return Some(Self { release: None });
        };
        wasm_bindgen_futures::spawn_local(async move {
            // A browser that gives no locks to this page has none.
            if JsFuture::from(Promise::resolve(&asked)).await.is_err() {
                drop(refused.call1(&JsValue::UNDEFINED, &JsValue::TRUE));
            }
        });
        let ours = JsFuture::from(decided).await.is_ok_and(|ours| ours.is_truthy());
        ours.then_some(Self { release })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(release) = &self.release {
            drop(release.call0(&JsValue::UNDEFINED));
        }
    }
}
