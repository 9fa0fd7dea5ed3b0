//! What a run is grouped by: columns that follow from its record.

use results::RunRecord;
use sqlx::Any;
use sqlx::any::AnyArguments;
use sqlx::query::Query;

use crate::devices::identity::Reported;
use crate::devices::inference::Inferred;
use crate::devices::{Identity, Vendor, class_of};

/// The columns of [`grouping_values`].
macro_rules! grouping_columns {
    () => {
        "suite_name, suite_version, client_kind, device_class, device_key, device_name, device_source, inferred, vendor, \
         own_device_key"
    };
}
pub(super) use grouping_columns;

/// Their values, made from what [`Grouping`] binds as `$1` to `$9`. A device that was merged into another one is grouped as
/// that one, which is found in the very statement that writes: merging waits for all that is being written, and what is
/// written afterwards sees it.
macro_rules! grouping_values {
    () => {
        "$1, $2, $3, $4, COALESCE((SELECT into_key FROM device_aliases WHERE device_aliases.device_key = $5), $5), \
         $6, $7, $8, $9, (SELECT device_key FROM device_aliases WHERE device_aliases.device_key = $5)"
    };
}
pub(super) use grouping_values;

type Statement<'q> = Query<'q, Any, AnyArguments>;

/// What a record says of it.
pub(super) struct Grouping {
    suite_name: String,
    suite_version: i64,
    client_kind: &'static str,
    device_class: &'static str,
    key: String,
    label: String,
    source: &'static str,
    inferred: Option<String>,
    vendor: Option<&'static str>,
}

impl Grouping {
    pub(super) fn of(record: &RunRecord) -> Self {
        let identity = Identity::of(record);
        Self {
            suite_name: record.suite.name.clone(),
            suite_version: i64::from(record.suite.version),
            client_kind: record.provenance.client.kind.name(),
            device_class: class_of(record).name(),
            source: identity.source.name(),
            inferred: identity.inferred.as_ref().and_then(guess),
            vendor: vendor(&identity.reported),
            key: identity.group.key,
            label: identity.group.label,
        }
    }

    /// Binds it as the first nine parameters.
    pub(super) fn bind<'q>(&self, statement: Statement<'q>) -> Statement<'q> {
        statement
            .bind(self.suite_name.clone())
            .bind(self.suite_version)
            .bind(self.client_kind)
            .bind(self.device_class)
            .bind(self.key.clone())
            .bind(self.label.clone())
            .bind(self.source)
            .bind(self.inferred.clone())
            .bind(self.vendor)
    }
}

/// What the platform names is no guess.
fn guess(inferred: &Inferred) -> Option<String> {
    match inferred {
        Inferred::Reported(_) => None,
        Inferred::Candidates(devices) => {
            let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
            Some(names.join(" or "))
        }
    }
}

fn vendor(reported: &Reported) -> Option<&'static str> {
    reported.vendor.or_else(|| reported.device().map(|device| device.vendor)).map(Vendor::name)
}

/// Who made the device of a record, as far as its platform says.
pub(super) fn vendor_of(record: &RunRecord) -> Option<&'static str> {
    vendor(&Reported::of(&record.device.adapter))
}
