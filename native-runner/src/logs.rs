//! Logs of this program and its libraries on standard error, as `-v` requests.

use std::io;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::time::uptime;

use crate::screen::Screen;

/// Filters by the number of `-v`: own events, more of them together with the libraries' events, everything.
const FILTERS: [&str; 4] =
    ["warn,native_runner=info", "info,native_runner=debug", "debug,native_runner=trace", "trace"];

/// Shows logs from now on, each with the seconds since the program's start.
pub(crate) fn show(times_asked: u8) {
    let Some(filter) = filter(times_asked) else { return };
    // Colours as everywhere else: none for files, pipes and `NO_COLOR`.
    let coloured = Screen::Error.paint(console::Style::new().bold(), "log") != "log";
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_timer(uptime())
        .with_writer(io::stderr)
        // It would panic where standard error is closed.
        .log_internal_errors(false)
        .with_ansi(coloured)
        .init();
}

/// Returns true if log lines may appear at any time, so that progress bars must not be drawn.
pub(crate) fn are_shown() -> bool {
    tracing::dispatcher::has_been_set()
}

fn filter(times_asked: u8) -> Option<&'static str> {
    let most = FILTERS.len() - 1;
    usize::from(times_asked).checked_sub(1).map(|index| FILTERS[index.min(most)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_v_shows_more_and_none_shows_nothing() {
        assert_eq!([0, 1, 2, 200].map(filter), [None, Some(FILTERS[0]), Some(FILTERS[1]), Some(FILTERS[3])]);
        for text in FILTERS {
            assert_eq!(
                EnvFilter::builder().parse(text).map(|_| ()).map_err(|error| error.to_string()),
                Ok(()),
                "{text}"
            );
        }
    }
}
