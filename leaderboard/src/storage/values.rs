//! What the common driver of both data bases does not carry by itself.

use sqlx::any::{AnyArguments, AnyRow, AnyTypeInfo};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::query::Query;
use sqlx::{Any, AssertSqlSafe, Database, Encode, Row, Type};

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

/// A value of a statement that is put together.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Text(String),
    Number(f64),
    Whole(i64),
}

impl Value {
    /// As it is written inside a statement, for looking at how that is performed.
    pub(super) fn written(&self) -> String {
        match self {
            Self::Text(text) => format!("'{}'", text.replace('\'', "''")),
            Self::Number(number) => format!("{number:e}"),
            Self::Whole(number) => number.to_string(),
        }
    }
}

/// A statement that is put together from parts of this program, with the values of its parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Statement {
    pub(super) sql: String,
    pub(super) values: Vec<Value>,
}

impl Statement {
    /// Keeps a value and returns its place in the statement.
    pub(super) fn value(&mut self, value: Value) -> String {
        self.values.push(value);
        format!("${}", self.values.len())
    }

    /// The query with all its values. It is not kept for another time: there are too many different ones.
    pub(super) fn query(&self) -> Query<'static, Any, AnyArguments> {
        let query = sqlx::query(AssertSqlSafe(self.sql.clone())).persistent(false);
        self.values.iter().fold(query, |query, value| match value {
            Value::Text(text) => query.bind(text.clone()),
            Value::Number(number) => query.bind(*number),
            Value::Whole(number) => query.bind(*number),
        })
    }
}
