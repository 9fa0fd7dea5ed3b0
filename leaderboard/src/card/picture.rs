//! From SVG to PNG: off the threads that answer requests, a few at a time, and not twice for the same card.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};
use tokio::sync::Semaphore;

use super::layout::{self, SIZE};
use super::pen::Letters;
use super::typeface::{REGULAR, SEMI_BOLD};
use super::words::Card;
use crate::error::ApiError;
use crate::secrets::sha256;

/// Cards that are drawn at once; each takes one core and 3 MB meanwhile.
const AT_ONCE: usize = 2;
/// Requests that may wait for that, so that cards never take the places of all other requests.
const WAITING: usize = 32;
/// So long they wait.
const PATIENCE: Duration = Duration::from_secs(5);
/// Of cards that were drawn; a card is less than a tenth of a megabyte.
const KEPT_BYTES: usize = 4 << 20;

/// Draws cards; cloning shares the font, the places and what was drawn.
#[derive(Clone)]
pub(crate) struct Cards(Arc<Studio>);

struct Studio {
    fonts: Arc<Database>,
    waiting: Semaphore,
    places: Arc<Semaphore>,
    drawn: Mutex<Drawn>,
}

/// Why a card could not be drawn: never because of what it says.
#[derive(Debug, thiserror::Error)]
enum DrawingError {
    #[error("the card is no SVG: {0}")]
    Svg(#[from] resvg::usvg::Error),
    #[error("there is no memory for the card")]
    Memory,
    #[error("the card could not be written as PNG: {0}")]
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
            waiting: Semaphore::new(WAITING),
            places: Arc::new(Semaphore::new(AT_ONCE)),
            drawn: Mutex::default(),
        }))
    }
}

impl Cards {
    /// The card as SVG, for programs that have fonts of their own.
    pub(crate) fn svg(card: &Card) -> String {
        layout::svg(card, Letters::Any)
    }

    /// The card as PNG.
    ///
    /// # Errors
    /// So many are wanted that this one would have to wait too long.
    pub(crate) async fn png(&self, card: &Card) -> Result<Bytes, ApiError> {
        let svg = layout::svg(card, Letters::OfOurFont);
        // Everything that is seen is in it, so that equal names are equal pictures, on every server.
        let name = sha256(svg.as_bytes());
        if let Some(png) = self.0.drawn().find(&name) {
            return Ok(png);
        }
        let studio = &self.0;
        let _waiting = studio.waiting.try_acquire().map_err(|_full| ApiError::too_many_cards())?;
        let place = tokio::time::timeout(PATIENCE, Arc::clone(&studio.places).acquire_owned()).await;
        let Ok(Ok(place)) = place else { return Err(ApiError::too_many_cards()) };
        // Whoever had the place before may have drawn this very card.
        if let Some(png) = studio.drawn().find(&name) {
            return Ok(png);
        }
        let studio = Arc::clone(studio);
        let drawing = tokio::task::spawn_blocking(move || {
            // It is kept, and its place taken, also where nobody waits for it any more.
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
        // What is kept is whole, whoever panicked.
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Cards that were drawn, by their names, the one that was asked for last at the end.
#[derive(Default)]
struct Drawn {
    cards: VecDeque<(String, Bytes)>,
    bytes: usize,
}

impl Drawn {
    fn find(&mut self, name: &str) -> Option<Bytes> {
        let place = self.cards.iter().position(|(kept, _)| kept == name)?;
        let card = self.cards.remove(place)?;
        let png = card.1.clone();
        self.cards.push_back(card);
        Some(png)
    }

    fn keep(&mut self, name: String, png: Bytes) {
        self.bytes += png.len();
        self.cards.push_back((name, png));
        while self.bytes > KEPT_BYTES {
            let Some((_, oldest)) = self.cards.pop_front() else { return };
            self.bytes -= oldest.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::super::testing::{card, run};
    use super::*;

    #[test]
    fn what_is_kept_is_bounded_and_what_is_asked_for_stays() {
        let mut drawn = Drawn::default();
        let megabyte = || Bytes::from(vec![0; 1 << 20]);
        for name in ["a", "b", "c", "d"] {
            drawn.keep(name.to_owned(), megabyte());
        }
        assert!(drawn.find("a").is_some());
        drawn.keep("e".to_owned(), megabyte());
        let kept = ["a", "b", "c", "d", "e"].map(|name| drawn.find(name).is_some());
        assert_eq!((kept, drawn.bytes), ([true, false, true, true, true], KEPT_BYTES));
    }

    #[tokio::test]
    async fn a_card_is_drawn_once() {
        let cards = Cards::default();
        let first = cards.png(&card(&run())).await.unwrap();
        let start = Instant::now();
        let second = cards.png(&card(&run())).await.unwrap();
        assert!(first == second && first.as_ptr() == second.as_ptr(), "the very same bytes");
        assert!(start.elapsed() < Duration::from_millis(20), "{:?}", start.elapsed());
    }

    #[tokio::test]
    async fn who_would_wait_too_long_is_sent_away_and_what_is_kept_still_goes_out() {
        let cards = Cards::default();
        let known = card(&run());
        cards.png(&known).await.unwrap();
        let _all = cards.0.waiting.acquire_many(32).await.unwrap();
        let mut other = run();
        other.run_id = "fedcba9876543210".to_owned();
        assert_eq!(cards.png(&card(&other)).await.unwrap_err().code(), "busy");
        assert!(cards.png(&known).await.is_ok());
    }

    #[tokio::test]
    #[ignore = "waits for 5 s"]
    async fn waiting_for_a_place_has_an_end() {
        let cards = Cards::default();
        let _both = Arc::clone(&cards.0.places).acquire_many_owned(2).await.unwrap();
        assert_eq!(cards.png(&card(&run())).await.unwrap_err().code(), "busy");
    }
}
