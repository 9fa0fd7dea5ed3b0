//! What may be left behind, counted where it is kept: several servers may share a data base.

use super::{Storage, StorageError};

impl Storage {
    /// Takes bytes from a day's budget for imports; `false` when it does not have so many left.
    ///
    /// They are taken before the record is stored, and stay taken when the same record turns out to be there already.
    pub(crate) async fn take_import_bytes(&self, day: i64, bytes: u64, most: u64) -> Result<bool, StorageError> {
        let (bytes, most) = (i64::try_from(bytes)?, i64::try_from(most)?);
        if bytes > most {
            return Ok(false);
        }
        let mut transaction = self.writing().await?;
        // One statement, so that two servers cannot both take the last bytes.
        let taken = sqlx::query(
            "INSERT INTO import_days (day, bytes) VALUES ($1, $2) ON CONFLICT (day) \
             DO UPDATE SET bytes = import_days.bytes + excluded.bytes WHERE import_days.bytes + excluded.bytes <= $3",
        )
        .bind(day)
        .bind(bytes)
        .bind(most)
        .execute(&mut *transaction)
        .await?;
        sqlx::query("DELETE FROM import_days WHERE day < $1").bind(day).execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(taken.rows_affected() == 1)
    }
}
