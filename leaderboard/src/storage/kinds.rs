//! Kinds: the filtered properties of a result that have few values, combined into one number. A board has some hundreds
//! of kinds, so the matching ones are found at once.

use results::api::Tier;
use results::{RunRecord, Suite, WorkloadRecord};
use serde::{Deserialize, Serialize};
use sqlx::{AnyConnection, Row};

use super::Result;
use super::values::{KEEP, Statement, execute, insert, read, sql};
use crate::secrets::sha256;

/// Hexadecimal digits of a kind's number: 60 bits, positive in every database. Collisions are improbable.
const DIGITS: usize = 15;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ResultKind {
    pub(super) backend: String,
    pub(super) precision: String,
    pub(super) suite: Suite,
    pub(super) client_kind: String,
    /// Empty for programs other than browsers.
    pub(super) browser: String,
    pub(super) system: String,
    pub(super) vendor: String,
    pub(super) tier: String,
    pub(super) ranked_as: String,
}

/// Words that columns of a kind must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KindFilter(Vec<(&'static str, String)>);

impl ResultKind {
    pub(super) fn of(record: &RunRecord, workload: &WorkloadRecord, tier: Tier, vendor: Option<&str>) -> Self {
        let client = &record.provenance.client;
        Self {
            backend: record.device.backend.clone(),
            precision: workload.settings.precision.name().to_owned(),
            suite: record.suite.clone(),
            client_kind: client.kind.name().to_owned(),
            browser: client.browser().unwrap_or_default().to_owned(),
            system: client.system().to_owned(),
            vendor: vendor.unwrap_or_default().to_owned(),
            tier: tier.name().to_owned(),
            ranked_as: String::new(),
        }
    }

    fn words(&self) -> [&str; 9] {
        let Self { backend, precision, suite, client_kind, browser, system, vendor, tier, ranked_as } = self;
        [backend, precision, &suite.name, client_kind, browser, system, vendor, tier, ranked_as]
    }

    /// Returns the number of the kind, which is the same on all servers at all times.
    pub(super) fn number(&self) -> i64 {
        // The names contain no line breaks.
        let text = format!("{}\n{}", self.suite.version, self.words().join("\n"));
        i64::from_str_radix(&sha256(text.as_bytes())[..DIGITS], 16).unwrap_or_default()
    }

    pub(super) async fn keep(&self, connection: &mut AnyConnection) -> Result<i64> {
        let number = self.number();
        let mut row = serde_json::to_value(self)?;
        row["kind"] = number.into();
        insert("kinds", &row, KEEP).execute(connection).await?;
        Ok(number)
    }
}

impl KindFilter {
    /// A column that has no word matches all kinds.
    pub(crate) fn new<'a>(words: impl IntoIterator<Item = (&'static str, Option<&'a str>)>) -> Self {
        Self(words.into_iter().filter_map(|(column, word)| Some((column, word?.to_owned()))).collect())
    }

    /// Returns the numbers of the matching kinds, separated by commas, because thousands of rows would take longer to
    /// receive than the page. Returns `None` if all kinds match.
    pub(super) async fn kinds(&self, connection: &mut AnyConnection) -> Result<Option<String>> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let mut statement = Statement::default();
        let mut equals = |column, word: &str| format!("CAST({column} AS TEXT) = {}", statement.value(word));
        let conditions: Vec<String> = self.0.iter().map(|(column, word)| equals(*column, word)).collect();
        let conditions = conditions.join(" AND ");
        statement.sql = format!("SELECT string_agg(CAST(kind AS TEXT), ',') AS numbers FROM kinds WHERE {conditions}");
        let row = statement.query().fetch_one(connection).await?;
        Ok(Some(row.try_get::<Option<String>, _>("numbers")?.unwrap_or_default()))
    }
}

/// Updates the kinds of a run's results after a change of its tier or of what may be ranked.
pub(super) async fn renew(connection: &mut AnyConnection, run_id: &str, tier: Tier) -> Result<()> {
    let select = "SELECT DISTINCT COALESCE(results.ranked_as, '') AS place, kinds.* FROM results JOIN kinds \
         ON kinds.kind = results.kind WHERE results.run_id = $1";
    for row in &sql!(select, [run_id]).fetch_all(&mut *connection).await? {
        let place: String = row.try_get("place")?;
        let before: ResultKind = read(row)?;
        let after = ResultKind { tier: tier.name().to_owned(), ranked_as: place.clone(), ..before.clone() };
        if after == before {
            continue;
        }
        let number = after.keep(&mut *connection).await?;
        let update = "UPDATE results SET kind = $1 WHERE run_id = $2 AND kind = $3 AND COALESCE(ranked_as, '') = $4";
        execute!(connection, update, [number, run_id, before.number(), place])?;
    }
    Ok(())
}
