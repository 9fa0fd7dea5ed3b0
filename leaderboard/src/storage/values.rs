//! What the common driver of both data bases does not carry by itself.

use sqlx::any::{AnyRow, AnyTypeInfo};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::{Any, Database, Encode, Row, Type};

use super::StorageError;

/// Selects a condition so that [`flag`] can read it. Neither data base's own truth values can be read alike: SQLite has
/// none, and its BOOLEAN columns are refused by the driver.
macro_rules! as_flag {
    ($condition:expr, $name:literal) => {
        concat!("CASE WHEN ", $condition, " THEN 1 ELSE 0 END AS ", $name)
    };
}
pub(super) use as_flag;

/// A condition that was selected with [`as_flag`].
pub(super) fn flag(row: &AnyRow, name: &str) -> Result<bool, sqlx::Error> {
    Ok(row.try_get::<i64, _>(name)? != 0)
}

/// A number that may be absent, to be written.
///
/// The driver tells PostgreSQL that an absent `f64` is a single-precision number; the statement is then kept as one that
/// takes such numbers, and the next `f64` does not fit. What it calls an absent `f32` comes out as it should.
pub(super) struct OptionalNumber(pub(super) Option<f64>);

impl Type<Any> for OptionalNumber {
    fn type_info() -> AnyTypeInfo {
        <f64 as Type<Any>>::type_info()
    }
}

impl Encode<'_, Any> for OptionalNumber {
    fn encode_by_ref(&self, arguments: &mut <Any as Database>::ArgumentBuffer) -> Result<IsNull, BoxDynError> {
        match self.0 {
            Some(number) => Encode::<Any>::encode(number, arguments),
            None => Encode::<Any>::encode(Option::<f32>::None, arguments),
        }
    }
}

/// A word that no version ever wrote.
pub(super) fn unknown_word(column: &'static str, word: &str) -> StorageError {
    StorageError::Word { column, word: word.to_owned() }
}
