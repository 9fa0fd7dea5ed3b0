//! Pictures of results for link previews. Renders the SVG as PNG on blocking threads and caches the pictures.

mod layout;
mod pen;
mod start;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod words;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use lru::LruCache;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};
use tokio::sync::Semaphore;

use crate::error::ApiError;
use crate::secrets::sha256;
pub(crate) use layout::{SIZE, curve_path};
use pen::{Letters, REGULAR, SEMI_BOLD};
pub(crate) use words::{Card, Workload};

/// Maximum number of cards that are drawn at once. Each takes one core and 3 MB.
const MAX_DRAWN_AT_ONCE: usize = 2;
/// Maximum number of waiting requests, so that cards leave slots to other requests.
const MAX_WAITING: usize = 32;
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of cached cards. A card has less than a tenth of a megabyte.
const KEPT_BYTES: usize = 4 << 20;

/// Draws cards. Clones share the font, the places and the cache.
#[derive(Clone)]
pub(crate) struct Cards(Arc<Studio>);

struct Studio {
    fonts: Arc<Database>,
    waiting: Semaphore,
    places: Arc<Semaphore>,
    drawn: Mutex<Drawn>,
}

/// An error during drawing, which never depends on the card's content.
#[derive(Debug, thiserror::Error)]
enum DrawingError {
    #[error("the card is no SVG: {0}")]
    Svg(#[from] resvg::usvg::Error),
    #[error("there is no memory for the card")]
    Memory,
    #[error("cannot write the card as PNG: {0}")]
    Png(String),
    #[error("drawing the card ended early: {0}")]
    Ended(#[from] tokio::task::JoinError),
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
            drawn: Mutex::new(Drawn { cards: LruCache::unbounded(), bytes: 0 }),
        }))
    }
}

impl Cards {
    pub(crate) fn svg(card: &Card) -> String {
        layout::svg(card, Letters::Any)
    }

    /// Returns the card as PNG.
    ///
    /// # Errors
    /// Too many cards are being drawn.
    pub(crate) async fn png(&self, card: &Card) -> Result<Bytes, ApiError> {
        self.render(layout::svg(card, Letters::OfOurFont)).await
    }

    /// Returns the card of the start page as PNG.
    ///
    /// # Errors
    /// Too many cards are being drawn.
    pub(crate) async fn start_png(&self) -> Result<Bytes, ApiError> {
        self.render(start::svg()).await
    }

    async fn render(&self, svg: String) -> Result<Bytes, ApiError> {
        // The SVG has all of the content, so equal hashes mean equal pictures on all servers.
        let name = sha256(svg.as_bytes());
        if let Some(png) = self.0.drawn().cards.get(&name).cloned() {
            return Ok(png);
        }
        let studio = &self.0;
        let _waiting = studio.waiting.try_acquire().map_err(|_full| ApiError::too_many_cards())?;
        let place = tokio::time::timeout(PATIENCE, Arc::clone(&studio.places).acquire_owned()).await;
        let Ok(Ok(place)) = place else { return Err(ApiError::too_many_cards()) };
        // Another request may have drawn this card meanwhile.
        if let Some(png) = studio.drawn().cards.get(&name).cloned() {
            return Ok(png);
        }
        let studio = Arc::clone(studio);
        let drawing = tokio::task::spawn_blocking(move || {
            // The picture is cached and the place is taken even if the request was cancelled.
            let _place = place;
            let png = Bytes::from(studio.draw(&svg)?);
            studio.drawn().keep(name, png.clone());
            Ok::<_, DrawingError>(png)
        });
        let drawn = drawing.await.map_err(DrawingError::from).flatten();
        drawn.map_err(|cause| ApiError::internal(&cause))
    }
}

impl Studio {
    fn draw(&self, svg: &str) -> Result<Vec<u8>, DrawingError> {
        let options = Options { fontdb: Arc::clone(&self.fonts), ..Options::default() };
        let tree = Tree::from_str(svg, &options)?;
        let mut pixels = Pixmap::new(SIZE.0, SIZE.1).ok_or(DrawingError::Memory)?;
        resvg::render(&tree, Transform::identity(), &mut pixels.as_mut());
        pixels.encode_png().map_err(|cause| DrawingError::Png(cause.to_string()))
    }

    fn drawn(&self) -> MutexGuard<'_, Drawn> {
        // The cache is valid even after a panic.
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Drawn {
    cards: LruCache<String, Bytes>,
    bytes: usize,
}

impl Drawn {
    fn keep(&mut self, name: String, png: Bytes) {
        self.bytes += png.len();
        self.cards.put(name, png);
        while self.bytes > KEPT_BYTES
            && let Some((_, oldest)) = self.cards.pop_lru()
        {
            self.bytes -= oldest.len();
        }
    }
}
