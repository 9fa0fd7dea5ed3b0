//! Moderation of runs and devices.

use anyhow::{Error, Result, anyhow, bail};
use results::Date;
use results::api::{Deed, ModerationEntry, ModerationQuery, Tier};

use crate::ServerClock;
use crate::config::{Moderation, OfRuns};
use crate::storage::{Database, DatabaseAddress, Occasion, StorageError, TierChange};

pub(super) async fn moderate(database: &DatabaseAddress, deed: Moderation) -> Result<String> {
    let to_runs = async |OfRuns { run_ids, reason }: OfRuns, deed, tier| {
        change(database, &run_ids, deed, tier, Some(&reason)).await
    };
    match deed {
        Moderation::Hide(of) => to_runs(of, Deed::Hide, Some(Tier::Hidden)).await,
        Moderation::Flag(of) => to_runs(of, Deed::Flag, Some(Tier::Flagged)).await,
        Moderation::Restore(of) => to_runs(of, Deed::Restore, None).await,
        Moderation::MergeDevices { from, into, reason } => {
            with_storage(database, async |storage| {
                let (target, runs) = storage.merge_devices(&from, &into, occasion_now(Some(&reason))).await?;
                let resolved =
                    if target == into { String::new() } else { format!("{into} was merged into it before. ") };
                Ok(format!(
                    "{runs} runs of {from} now count as runs of {target}, and so will all future ones. \
                     {resolved}`leaderboard moderate separate-devices {from}` undoes this"
                ))
            })
            .await
        }
        Moderation::SeparateDevices { key, reason } => {
            with_storage(database, async |storage| {
                let (target, runs) = storage.separate_devices(&key, occasion_now(Some(&reason))).await?;
                Ok(format!("{runs} runs of {target} count as runs of {key} again"))
            })
            .await
        }
        Moderation::Log { limit } => {
            let query = ModerationQuery { limit: Some(limit), offset: None };
            let log = with_storage(database, async |storage| Ok(storage.moderation_log(&query).await?));
            let entries = log.await?.entries;
            if entries.is_empty() {
                return Ok("the moderation log is empty".to_owned());
            }
            Ok(entries.iter().map(line).collect::<Vec<_>>().join("\n"))
        }
    }
}

/// Applies an action to all of these runs, or to none of them.
pub(super) async fn change(
    database: &DatabaseAddress,
    run_ids: &[String],
    deed: Deed,
    tier: Option<Tier>,
    reason: Option<&str>,
) -> Result<String> {
    with_storage(database, async |storage| {
        let changes = storage.moderate(run_ids, deed, tier, occasion_now(reason)).await?;
        Ok(changes.iter().map(describe_change).collect::<Vec<_>>().join("\n"))
    })
    .await
}

fn describe_change(change: &TierChange) -> String {
    let TierChange { run_id, before, now } = change;
    let effect = match now {
        Tier::Proven => "it is listed, and ranked where its settings allow that",
        Tier::Checked | Tier::Unverified | Tier::Flagged => "it is listed and not ranked",
        Tier::Hidden => "it is not visible, and the same record cannot be uploaded again",
    };
    format!("run {run_id} was {} and is {} now: {effect}", before.name(), now.name())
}

fn occasion_now(reason: Option<&str>) -> Occasion<'_> {
    Occasion { unix_seconds: ServerClock::system().unix_seconds(), reason }
}

/// Removes all of these runs and comparisons, or none of them if one is unknown.
pub(super) async fn remove(database: &DatabaseAddress, ids: &[String]) -> Result<String> {
    with_storage(database, async |storage| {
        let (mut comparisons, mut runs) = (Vec::new(), Vec::new());
        for id in ids {
            let is_comparison = storage.comparison_secret(id).await?.is_some();
            if is_comparison { &mut comparisons } else { &mut runs }.push(id.clone());
        }
        if let Some(unknown) = storage.delete_all(&runs, Some(occasion_now(None))).await? {
            bail!(StorageError::unknown_run(&unknown));
        }
        for id in &comparisons {
            let occasion = Occasion { reason: Some("It was a comparison of backends."), ..occasion_now(None) };
            storage.delete_comparison(id, Some(occasion)).await?;
        }
        Ok(format!("permanently removed: {}", ids.join(", ")))
    })
    .await
}

fn line(entry: &ModerationEntry) -> String {
    let [run, from, into] =
        [&entry.run_id, &entry.device_key, &entry.into_device_key].map(|id| id.as_deref().unwrap_or_default());
    let tier = entry.tier.map_or("", Tier::name);
    let deed = match entry.deed {
        Deed::Hide => format!("hid run {run}"),
        Deed::Flag => format!("flagged run {run}"),
        Deed::Restore => format!("restored run {run}, which is {tier}"),
        Deed::SetTier => format!("made run {run} {tier}"),
        Deed::Remove => format!("removed run {run}"),
        Deed::MergeDevices => format!("merged device {from} into {into}"),
        Deed::SeparateDevices => format!("separated device {from} from {into}"),
    };
    let reason = match (&entry.reason, entry.deed) {
        (Some(reason), _) => format!(": {reason}"),
        (None, Deed::Remove) => String::new(),
        (None, _) => ": no reason given".to_owned(),
    };
    format!("{} {deed}{reason}", Date::of(entry.done_unix_seconds).iso())
}

/// Opens a database with up-to-date tables for a task, and closes it afterwards.
pub(super) async fn with_storage<T>(
    database: &DatabaseAddress,
    task: impl AsyncFnOnce(&Database) -> Result<T>,
) -> Result<T> {
    expect_there(database)?;
    let storage = Database::open_up_to_date(database).await.map_err(storage_error(database))?;
    let done = task(&storage).await;
    storage.close().await;
    done.map_err(|error| error.downcast().map_or_else(|other| other, storage_error(database)))
}

pub(super) fn expect_there(database: &DatabaseAddress) -> Result<()> {
    match database {
        DatabaseAddress::File(file) if !file.is_file() => {
            bail!("no database at {database}: specify the server's database with --database")
        }
        _ => Ok(()),
    }
}

pub(super) fn storage_error(database: &DatabaseAddress) -> impl Fn(StorageError) -> Error {
    move |cause| match cause {
        StorageError::Refused(refusal) => Error::msg(refusal),
        cause => anyhow!("cannot use the database {database}: {cause}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_reads_as_what_was_done_and_why() {
        let entry = |deed, tier, reason: Option<&str>| ModerationEntry {
            done_unix_seconds: 1.8e9,
            deed,
            run_id: Some("0123".to_owned()),
            run_is_visible: false,
            tier,
            device_key: None,
            into_device_key: None,
            reason: reason.map(str::to_owned),
        };
        for (entry, text) in [
            (entry(Deed::Hide, Some(Tier::Hidden), Some("a rude name")), "hid run 0123: a rude name"),
            (entry(Deed::SetTier, Some(Tier::Checked), None), "made run 0123 checked: no reason given"),
            (entry(Deed::Remove, None, None), "removed run 0123"),
        ] {
            assert_eq!(line(&entry), format!("2027-01-15 {text}"));
        }
        let merged = ModerationEntry {
            run_id: None,
            device_key: Some("claimed-a".to_owned()),
            into_device_key: Some("a".to_owned()),
            ..entry(Deed::MergeDevices, None, Some("one card"))
        };
        assert_eq!(line(&merged), "2027-01-15 merged device claimed-a into a: one card");
    }
}
