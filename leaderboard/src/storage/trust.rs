//! How far a run is trusted: what it is of its own, and a moderator's word that stands over it.

use results::api::Tier;
use sqlx::{AnyConnection, Row};

use super::StorageError;
use super::ranked::place_results;
use super::runs::{hold, tier};

/// What a run has come to by the leaderboard's rules and by its verification, whatever a moderator says of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Own {
    pub(crate) tier: Tier,
    pub(crate) notes: Vec<String>,
}

/// What a moderator says of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    Hidden,
    Flagged {
        /// Why, as a sentence.
        note: String,
    },
}

/// A run as it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Trust {
    pub(super) own: Own,
    pub(super) word: Option<Word>,
}

impl Trust {
    /// What anybody sees.
    pub(super) fn shown(&self) -> Own {
        match &self.word {
            None => self.own.clone(),
            Some(Word::Hidden) => Own { tier: Tier::Hidden, notes: self.own.notes.clone() },
            Some(Word::Flagged { note }) => {
                let notes = std::iter::once(note).chain(&self.own.notes).cloned().collect();
                Own { tier: Tier::Flagged, notes }
            }
        }
    }
}

/// The run, which nobody else changes until the transaction ends; nothing when there is no such run.
pub(super) async fn read(connection: &mut AnyConnection, run_id: &str) -> Result<Option<Trust>, StorageError> {
    let Some(shown) = hold(connection, run_id).await? else { return Ok(None) };
    let said = sqlx::query("SELECT own_tier AS tier, own_notes, note FROM moderated_runs WHERE run_id = $1")
        .bind(run_id)
        .fetch_optional(&mut *connection)
        .await?;
    if let Some(row) = said {
        let own = Own { tier: tier(&row)?, notes: serde_json::from_str(row.try_get("own_notes")?)? };
        let note: Option<String> = row.try_get("note")?;
        let word = note.map_or(Word::Hidden, |note| Word::Flagged { note });
        return Ok(Some(Trust { own, word: Some(word) }));
    }
    let row = sqlx::query("SELECT notes FROM runs WHERE run_id = $1").bind(run_id).fetch_one(connection).await?;
    let own = Own { tier: shown, notes: serde_json::from_str(row.try_get("notes")?)? };
    Ok(Some(Trust { own, word: None }))
}

/// Writes how a run stands that was `before` so, and places its results. The device that is returned has to be outdated,
/// last of all.
pub(super) async fn write(
    connection: &mut AnyConnection,
    run_id: &str,
    before: &Trust,
    now: &Trust,
) -> Result<Option<String>, StorageError> {
    let (shown_before, shown) = (before.shown(), now.shown());
    sqlx::query("UPDATE runs SET tier = $1, notes = $2 WHERE run_id = $3")
        .bind(shown.tier.name())
        .bind(serde_json::to_string(&shown.notes)?)
        .bind(run_id)
        .execute(&mut *connection)
        .await?;
    match &now.word {
        None => {
            sqlx::query("DELETE FROM moderated_runs WHERE run_id = $1").bind(run_id).execute(&mut *connection).await?;
        }
        Some(word) => {
            let note = if let Word::Flagged { note } = word { Some(note.as_str()) } else { None };
            sqlx::query(
                "INSERT INTO moderated_runs (run_id, own_tier, own_notes, note) VALUES ($1, $2, $3, $4) \
                 ON CONFLICT (run_id) DO UPDATE SET own_tier = excluded.own_tier, own_notes = excluded.own_notes, \
                 note = excluded.note",
            )
            .bind(run_id)
            .bind(now.own.tier.name())
            .bind(serde_json::to_string(&now.own.notes)?)
            .bind(note)
            .execute(&mut *connection)
            .await?;
        }
    }
    place_results(connection, run_id, Some(shown_before.tier), shown.tier).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moderators_word_stands_before_what_a_run_has_of_its_own() {
        let own = Own { tier: Tier::Proven, notes: vec!["One network was not completed.".to_owned()] };
        let of = |word| Trust { own: own.clone(), word }.shown();
        assert_eq!(of(None), own);
        assert_eq!(of(Some(Word::Hidden)).tier, Tier::Hidden);
        let flagged = of(Some(Word::Flagged { note: "A moderator doubts it.".to_owned() }));
        assert_eq!(flagged.tier, Tier::Flagged);
        assert_eq!(flagged.notes, ["A moderator doubts it.", "One network was not completed."]);
    }
}
