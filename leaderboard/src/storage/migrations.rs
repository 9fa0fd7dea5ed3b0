use sqlx::migrate::{Migrate, MigrateError, Migration, MigrationType, Migrator};
use sqlx::{AnyConnection, SqlSafeStr};

/// The files of `migrations/`, in order. A file that was released is never edited: add another.
const FILES: [(i64, &str, &str); 15] = [
    (1, "runs", include_str!("../../migrations/0001_runs.sql")),
    (2, "precision", include_str!("../../migrations/0002_precision.sql")),
    (3, "windows", include_str!("../../migrations/0003_windows.sql")),
    (4, "proof", include_str!("../../migrations/0004_proof.sql")),
    (5, "budgets", include_str!("../../migrations/0005_budgets.sql")),
    (6, "standings", include_str!("../../migrations/0006_standings.sql")),
    (7, "deleted", include_str!("../../migrations/0007_deleted.sql")),
    (8, "submitted", include_str!("../../migrations/0008_submitted.sql")),
    (9, "figures", include_str!("../../migrations/0009_figures.sql")),
    (10, "moderation", include_str!("../../migrations/0010_moderation.sql")),
    (11, "lists", include_str!("../../migrations/0011_lists.sql")),
    (12, "fingerprints", include_str!("../../migrations/0012_fingerprints.sql")),
    (13, "comparisons", include_str!("../../migrations/0013_comparisons.sql")),
    (14, "prefixes", include_str!("../../migrations/0014_prefixes.sql")),
    (15, "segments", include_str!("../../migrations/0015_segments.sql")),
];

/// Runs what has not run yet. Of servers that start on the same PostgreSQL data base at once, one does it and the others
/// wait, however long it takes.
pub(super) async fn bring_up_to_date(connection: &mut AnyConnection) -> Result<(), MigrateError> {
    of(&FILES).run(connection).await
}

/// Those that have not run yet, as their files are called.
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

/// Listed by hand rather than by sqlx's macro, which would compile SQLite twice.
fn of(files: &[(i64, &'static str, &'static str)]) -> Migrator {
    let migrations = files.iter().map(|&(version, name, sql)| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    });
    Migrator::with_migrations(migrations.collect())
}

#[cfg(test)]
mod tests {
    use sqlx::Connection;

    use super::*;

    #[test]
    fn every_file_of_the_folder_is_in_the_list() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
        let mut found: Vec<String> =
            std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        found.sort();
        assert_eq!(found, FILES.map(|(version, name, _)| format!("{version:04}_{name}.sql")));
    }

    #[tokio::test]
    async fn records_of_the_first_layout_become_those_of_the_second_and_a_name_stays_as_it_was_typed() {
        sqlx::any::install_default_drivers();
        let mut connection = AnyConnection::connect("sqlite::memory:").await.unwrap();
        of(&FILES[..2]).run(&mut connection).await.unwrap();
        let name = r#"my \"measured\":true, GPU"#;
        let record = |version: u32, counted: &str, not_counted: &str| {
            format!(r#"{{"schema_version":{version},"device":{{"claimed_name":"{name}"}},"#)
                + &format!(
                    r#""windows":[{{"steps":1,"seconds":1.5{not_counted}}},{{"steps":2,"seconds":2.5{counted}}}]}}"#
                )
        };
        let before = record(1, r#","measured":true"#, r#","measured":false"#);
        sqlx::query(
            "INSERT INTO runs VALUES ('r', 'checked', '[]', 0, 'f', TRUE, FALSE, 'wgsl', '{}', '{}', NULL, $1)",
        )
        .bind(before)
        .execute(&mut connection)
        .await
        .unwrap();
        for (workload, summary) in [("steady", r#"{"stable":true}"#), ("unsteady", r#"{"stable":false}"#)] {
            sqlx::query("INSERT INTO results VALUES ('r', $1, 1, 1, $2, 'f32')")
                .bind(workload)
                .bind(summary)
                .execute(&mut connection)
                .await
                .unwrap();
        }
        bring_up_to_date(&mut connection).await.unwrap();
        let (after,): (String,) = sqlx::query_as("SELECT record FROM runs").fetch_one(&mut connection).await.unwrap();
        assert_eq!(after, record(2, "", ""));
        let rankable: Vec<(String,)> =
            sqlx::query_as("SELECT workload FROM results WHERE rankable").fetch_all(&mut connection).await.unwrap();
        assert_eq!(rankable, [("steady".to_owned(),)]);
    }
}
