//! How long tests wait for what must come. A test goes on as soon as it is there.

use std::time::Duration;

/// For what a page shows at once on an idle machine. Only what never comes takes so long.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// For a run to end that is cancelled while it trains: its worker has three seconds to stop by itself.
pub const CANCELLING: Duration = Duration::from_secs(5);
/// For one that is cancelled before it trains: its worker is still starting and does not hear of it, so that the page waits
/// the three seconds and then stops it.
pub const CANCELLING_AT_ITS_START: Duration = Duration::from_secs(20);
/// For a small run on an emulated GPU, half a minute on an idle machine. Only what never comes takes so long.
pub const RUN_PATIENCE: Duration = Duration::from_secs(600);
