use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use leaderboard::{CommandLine, Server, upkeep};
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> ExitCode {
    match perform().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A host needs no backtrace, even with RUST_BACKTRACE. If writing fails, the exit code remains.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn perform() -> anyhow::Result<()> {
    let CommandLine { task, serve: config } = CommandLine::parse();
    if let Some(task) = task {
        let said = upkeep::perform(task, &config.database).await?;
        return writeln!(std::io::stdout(), "{said}").context("done, but cannot print the result");
    }
    let filter = EnvFilter::try_new(&config.log)
        .with_context(|| format!("--log {} is neither a level, such as info, nor a filter", config.log))?;
    let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    // A log that cannot be written, for example on a full disk, is lost: reporting that on the same stream would panic.
    tracing_subscriber::fmt()
        .log_internal_errors(false)
        .with_env_filter(filter)
        .with_ansi(colours)
        .with_writer(std::io::stderr)
        .init();

    let server = Server::bind(config).await?;
    // A reader of the next line may stop the server at once.
    let interrupted = wait_for_interrupt()?;
    let metrics = server.metrics_address().map(|address| format!("metrics on http://{address}/metrics\n"));
    let said = format!("listening on http://{}\n{}", server.address(), metrics.unwrap_or_default());
    if let Err(cause) = std::io::stdout().write_all(said.as_bytes()) {
        tracing::warn!(%cause, "cannot print the address: {said}");
    }
    server.run(interrupted).await;
    Ok(())
}

/// Waits for a request to stop the process: Ctrl-C anywhere, and SIGTERM on Unix.
fn wait_for_interrupt() -> std::io::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        Ok(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
