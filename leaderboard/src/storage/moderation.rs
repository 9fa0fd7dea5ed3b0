//! Actions of moderators. Each action and its entry in the public log are one transaction.

use std::collections::BTreeSet;

use results::api::{Deed, ModerationLog, ModerationQuery, Tier};
use serde_json::{Value as Json, json};
use sqlx::AnyConnection;

use super::trust::{Trust, Word, mark};
use super::values::{as_flag, insert, read, scalar, sql};
use super::{Database, Result, StorageError, trust};

const DEFAULT_ENTRIES: u32 = 100;
const MAX_COUNTED: i64 = 10_000;

/// Finds a page in the index before the runs are joined.
pub(super) const PAGE: &str = concat!(
    "SELECT page.done_unix_seconds, page.deed, page.run_id, page.tier, page.device_key, page.into_device_key, ",
    "page.reason, ",
    as_flag!("runs.run_id IS NOT NULL", "run_is_visible"),
    " FROM (SELECT * FROM moderation_log ORDER BY done_unix_seconds DESC, entry LIMIT $1 OFFSET $2) AS page \
     LEFT JOIN runs ON runs.run_id = page.run_id AND runs.tier <> 'hidden' ORDER BY done_unix_seconds DESC, entry"
);

pub(super) const COUNT: &str = "SELECT COUNT(*) AS total FROM (SELECT 1 FROM moderation_log \
     ORDER BY done_unix_seconds DESC, entry LIMIT $1) AS counted";

#[derive(Clone, Copy, Debug)]
pub(crate) struct Occasion<'a> {
    pub(crate) unix_seconds: f64,
    pub(crate) reason: Option<&'a str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TierChange {
    pub(crate) run_id: String,
    pub(crate) before: Tier,
    pub(crate) now: Tier,
}

impl Database {
    /// Sets the tier of all of these runs, or of none if one is refused. Without a `tier`, each gets the one back that it
    /// has earned.
    pub(crate) async fn moderate(
        &self,
        run_ids: &[String],
        deed: Deed,
        tier: Option<Tier>,
        occasion: Occasion<'_>,
    ) -> Result<Vec<TierChange>> {
        // All transactions use the same order, to avoid deadlocks. Each run occurs once.
        let in_order: BTreeSet<&String> = run_ids.iter().collect();
        let (mut changes, mut devices) = (Vec::new(), BTreeSet::new());
        let mut transaction = self.writing().await?;
        for run_id in in_order {
            // After an error the transaction is rolled back.
            let before = trust::read_trust(&mut transaction, run_id).await?;
            let before = before.ok_or_else(|| StorageError::unknown_run(run_id))?;
            let mut now = Trust { own: before.own.clone(), word: None };
            match tier {
                Some(Tier::Hidden) => now.word = Some(Word::Hidden),
                Some(Tier::Flagged) => now.word = Some(Word::Flagged(occasion.reason.unwrap_or_default().to_owned())),
                Some(tier) => now.own.tier = tier,
                None if before.word.is_none() => {
                    return Err(StorageError::Refused(format!(
                        "no moderator hid or flagged run {run_id}: the leaderboard's own rules made it {}. Change its \
                         tier with `leaderboard set-tier`",
                        now.own.tier.name()
                    )));
                }
                None => {}
            }
            devices.extend(trust::write(&mut transaction, run_id, &before, &now).await?);
            let change = TierChange { run_id: run_id.clone(), before: before.shown().tier, now: now.shown().tier };
            log(&mut transaction, deed, occasion, json!({ "run_id": run_id, "tier": change.now })).await?;
            changes.push(change);
        }
        self.commit_with_stale(transaction, &devices).await?;
        Ok(changes)
    }

    pub(crate) async fn moderation_log(&self, query: &ModerationQuery) -> Result<ModerationLog> {
        // Reads the total and the entries from one snapshot.
        let mut transaction = self.reading().await?;
        let counted: i64 = scalar!(COUNT, [MAX_COUNTED + 1]).fetch_one(&mut *transaction).await?;
        let rows =
            sql!(PAGE, [i64::from(query.limit.unwrap_or(DEFAULT_ENTRIES)), i64::from(query.offset.unwrap_or(0))])
                .fetch_all(&mut *transaction)
                .await?;
        Ok(ModerationLog {
            entries: rows.iter().map(read).collect::<Result<_>>()?,
            total: u64::try_from(counted.min(MAX_COUNTED))?,
            more_than_total: counted > MAX_COUNTED,
        })
    }
}

/// Adds an entry to the log. `row` has the columns that name the run or the devices.
pub(super) async fn log(connection: &mut AnyConnection, deed: Deed, on: Occasion<'_>, mut row: Json) -> Result<()> {
    row["entry"] = mark()?.into();
    row["done_unix_seconds"] = on.unix_seconds.into();
    row["deed"] = deed.name().into();
    row["reason"] = on.reason.into();
    insert("moderation_log", &row, "").execute(connection).await?;
    Ok(())
}
