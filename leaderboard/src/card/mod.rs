//! Pictures of results for link previews. Renders the SVG as PNG on blocking threads and caches the pictures.

mod content;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use lru::LruCache;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};
use tokio::sync::Semaphore;
use view::card::{Card, Letters, REGULAR, SEMI_BOLD, SIZE, START, svg};

use crate::error::ApiError;
use crate::secrets::sha256;
pub(crate) use content::card_of;

/// Maximum number of cards that are drawn at once. Each takes one core and 3 MB.
const MAX_DRAWN_AT_ONCE: usize = 2;
/// Maximum number of waiting requests, so that cards leave slots to other requests.
const MAX_WAITING: usize = 32;
const MAX_WAIT: Duration = Duration::from_secs(5);
/// Number of cached cards. A card has less than a tenth of a megabyte.
const MAX_CACHED: NonZero<usize> = NonZero::new(40).unwrap();

/// Draws cards. Clones share the font, the places and the cache.
#[derive(Clone)]
pub(crate) struct Cards(Arc<Studio>);

struct Studio {
    fonts: Arc<Database>,
    waiting: Semaphore,
    places: Arc<Semaphore>,
    cache: Mutex<LruCache<String, Bytes>>,
}

impl Default for Cards {
    fn default() -> Self {
        let mut fonts = Database::new();
        for font in [REGULAR, SEMI_BOLD] {
            fonts.load_font_data(font.to_vec());
        }
        Self(Arc::new(Studio {
            fonts: Arc::new(fonts),
            waiting: Semaphore::new(MAX_WAITING),
            places: Arc::new(Semaphore::new(MAX_DRAWN_AT_ONCE)),
            cache: Mutex::new(LruCache::new(MAX_CACHED)),
        }))
    }
}

impl Cards {
    pub(crate) async fn png(&self, card: &Card) -> Result<Bytes, ApiError> {
        self.render(svg(card, Letters::OfOurFont)).await
    }

    pub(crate) async fn start_png(&self) -> Result<Bytes, ApiError> {
        self.render(START.to_owned()).await
    }

    async fn render(&self, svg: String) -> Result<Bytes, ApiError> {
        // The SVG has all of the content, so equal hashes mean equal pictures on all servers.
        let name = sha256(svg.as_bytes());
        let studio = &self.0;
        if let Some(png) = studio.cached(&name) {
            return Ok(png);
        }
        let _waiting = studio.waiting.try_acquire().map_err(|_full| ApiError::too_many_cards())?;
        let place = tokio::time::timeout(MAX_WAIT, Arc::clone(&studio.places).acquire_owned()).await;
        let Ok(Ok(place)) = place else { return Err(ApiError::too_many_cards()) };
        // Another request may have drawn this card meanwhile.
        if let Some(png) = studio.cached(&name) {
            return Ok(png);
        }
        let studio = Arc::clone(studio);
        let drawing = tokio::task::spawn_blocking(move || {
            // The picture is cached and the place is taken even if the request was cancelled.
            let _place = place;
            let png = Bytes::from(studio.draw(&svg)?);
            studio.cache.lock().unwrap_or_else(PoisonError::into_inner).put(name, png.clone());
            Ok::<_, Box<dyn Error + Send + Sync>>(png)
        });
        let drawn = drawing.await.map_err(|ended| ApiError::internal(&ended))?;
        drawn.map_err(|cause| ApiError::internal(&*cause))
    }
}

impl Studio {
    fn cached(&self, name: &str) -> Option<Bytes> {
        // The cache is valid even after a panic.
        self.cache.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Draws a card as PNG. Errors never depend on the card's content.
    fn draw(&self, svg: &str) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        let options = Options { fontdb: Arc::clone(&self.fonts), ..Options::default() };
        let tree = Tree::from_str(svg, &options)?;
        let mut pixels = Pixmap::new(SIZE.0, SIZE.1).ok_or("there is no memory for the card")?;
        resvg::render(&tree, Transform::identity(), &mut pixels.as_mut());
        Ok(pixels.encode_png()?)
    }
}
