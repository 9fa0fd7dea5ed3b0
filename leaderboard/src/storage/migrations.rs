use sqlx::SqlSafeStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};

/// The files of `migrations/`, in order. A file that was released is never edited: add another.
const FILES: [(i64, &str, &str); 2] = [
    (1, "runs", include_str!("../../migrations/0001_runs.sql")),
    (2, "precision", include_str!("../../migrations/0002_precision.sql")),
];

/// Listed by hand rather than by sqlx's macro, which would compile SQLite twice.
pub(super) fn migrator() -> Migrator {
    let migrations = FILES.map(|(version, name, sql)| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    Migrator::with_migrations(migrations.into())
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
