use sqlx::migrate::{Migrate, MigrateError, Migration, MigrationType, Migrator};
use sqlx::{AnyConnection, SqlSafeStr};

/// Files of `migrations/`, in order: version, name and SQL. A released file is never edited; add another one instead.
const FILES: [(i64, &str, &str); 1] = [(1, "schema", include_str!("../../migrations/0001_schema.sql"))];

/// Runs every migration that has not run yet. If several servers start on the same PostgreSQL database at once, one of
/// them runs the migrations and the others wait, however long it takes.
pub(super) async fn bring_up_to_date(connection: &mut AnyConnection) -> Result<(), MigrateError> {
    // Listed by hand rather than by sqlx's macro, which would compile SQLite twice.
    let migrations = FILES.map(|(version, name, sql)| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    Migrator::with_migrations(migrations.into()).run(connection).await
}

/// Returns the names of the migrations that have not run yet.
pub(super) async fn missing(connection: &mut AnyConnection) -> Result<Vec<String>, MigrateError> {
    let table = Migrator::DEFAULT.table_name;
    connection.ensure_migrations_table(&table).await?;
    let done = connection.list_applied_migrations(&table).await?;
    let is_missing = |version: i64| !done.iter().any(|done| done.version == version);
    Ok(FILES
        .iter()
        .filter(|file| is_missing(file.0))
        .map(|(version, name, _)| format!("{version:04}_{name}"))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_in_the_list() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
        let mut found: Vec<String> =
            std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        found.sort();
        assert_eq!(found, FILES.map(|(version, name, _)| format!("{version:04}_{name}.sql")));
    }
}
