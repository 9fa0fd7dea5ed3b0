//! What a run is grouped by: columns that follow from its record.

use results::RunRecord;
use results::api::DeviceSource;
use sqlx::Any;
use sqlx::any::AnyArguments;
use sqlx::query::Query;

use super::StorageError;
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

/// Their values, made from what [`bind`] binds as `$1` to `$9`. A device that was merged into another one is grouped as
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

/// Binds what the record says as the first nine parameters.
pub(super) fn bind<'q>(statement: Statement<'q>, record: &RunRecord) -> Result<Statement<'q>, StorageError> {
    let identity = Identity::of(record);
    let source = source(&identity).name();
    Ok(statement
        .bind(record.suite.name.clone())
        .bind(i64::from(record.suite.version))
        .bind(record.provenance.client.kind.name())
        .bind(class_of(record).name())
        .bind(identity.group.key)
        .bind(identity.group.label)
        .bind(source)
        .bind(identity.inferred.as_ref().and_then(guess))
        .bind(vendor(&identity.reported)))
}

/// Who says which device it is, as far as the group goes by it.
fn source(identity: &Identity) -> DeviceSource {
    match (&identity.reported.name, &identity.claimed) {
        (Some(_), _) => DeviceSource::Reported,
        (None, Some(_)) if identity.contradiction.is_none() => DeviceSource::Claimed,
        (None, _) => DeviceSource::Masked,
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
