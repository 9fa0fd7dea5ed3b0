//! Queries and values that the common driver of both databases does not support by itself.

use sqlx::any::{AnyArguments, AnyRow, AnyTypeInfo};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::query::Query;
use sqlx::{Any, AssertSqlSafe, Database, Encode, Row, Type};

use super::StorageError;

/// Selects a condition so that [`flag`] can read it. The databases' own booleans cannot be read in the same way: SQLite has
/// none, and the driver refuses its BOOLEAN columns.
macro_rules! as_flag {
    ($condition:expr, $name:literal) => {
        concat!("CASE WHEN ", $condition, " THEN 1 ELSE 0 END AS ", $name)
    };
}
pub(super) use as_flag;

/// Makes a query with the values of its parameters.
macro_rules! sql {
    ($sql:expr, $($value:expr),+) => { sqlx::query($sql)$(.bind($value))+ };
}
pub(super) use sql;

/// Reads a condition that was selected with [`as_flag`].
pub(super) fn flag(row: &AnyRow, name: &str) -> Result<bool, sqlx::Error> {
    Ok(row.try_get::<i64, _>(name)? != 0)
}

/// An optional number as a parameter.
///
/// The driver tells PostgreSQL that an absent `f64` is a single-precision number. It then caches the statement with this
/// type, and the next `f64` does not fit. An absent `f32` has the right type.
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

/// Returns the error for a name that no version ever wrote.
pub(super) fn unknown_word(column: &'static str, word: &str) -> StorageError {
    StorageError::Word { column, word: word.to_owned() }
}

/// A parameter of a [`Statement`].
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Text(String),
    Number(f64),
    Whole(i64),
}

impl Value {
    /// Returns the value as an SQL literal, for checks of plans.
    pub(super) fn written(&self) -> String {
        match self {
            Self::Text(text) => format!("'{}'", text.replace('\'', "''")),
            Self::Number(number) => format!("{number:e}"),
            Self::Whole(number) => number.to_string(),
        }
    }
}

/// A statement that is built at run time, with the values of its parameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Statement {
    pub(super) sql: String,
    pub(super) values: Vec<Value>,
}

impl Statement {
    /// Adds a parameter and returns its placeholder.
    pub(super) fn value(&mut self, value: Value) -> String {
        self.values.push(value);
        format!("${}", self.values.len())
    }

    /// Returns the query. It is not cached as a prepared statement, because there are too many different ones.
    pub(super) fn query(&self) -> Query<'static, Any, AnyArguments> {
        let query = sqlx::query(AssertSqlSafe(self.sql.clone())).persistent(false);
        self.values.iter().fold(query, |query, value| match value {
            Value::Text(text) => query.bind(text.clone()),
            Value::Number(number) => query.bind(*number),
            Value::Whole(number) => query.bind(*number),
        })
    }
}
