//! A data base that does not work for a while: who comes is told, and once it works again so does the server.

use results::api::RunList;
use sqlx::Executor;

use crate::on_postgres;
use crate::support::database::block_on;
use crate::support::{TestServer, record};

#[test]
#[ignore = "waits for 10 s"]
fn a_data_base_that_somebody_else_keeps_locked_is_busy_until_it_is_free() {
    let server = TestServer::start();
    let lock = if on_postgres() { "BEGIN; LOCK TABLE started_runs, runs" } else { "BEGIN EXCLUSIVE" };
    let start = results::api::StartRun { suite: record::suite(), engine_version: record::ENGINE_VERSION.to_owned() };
    block_on(async {
        let mut somebody = server.database().connect().await;
        somebody.execute(lock).await.unwrap();
        let refused = server.json("POST", "/api/v1/runs", &start);
        refused.assert_refused(503, "busy", "");
        assert_eq!(refused.header("retry-after"), "5");
        somebody.execute("ROLLBACK").await.unwrap();
    });
    server.accepted(|_| {});
    assert_eq!(server.get("/api/v1/runs").parse::<RunList>().total, 2);
}
