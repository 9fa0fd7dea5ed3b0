use std::io::IsTerminal;
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
            // Written by hand, because a sentence for a host needs no backtrace, whatever RUST_BACKTRACE says.
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn perform() -> anyhow::Result<()> {
    let CommandLine { task, serve: arguments } = CommandLine::parse();
    if let Some(task) = task {
        println!("{}", upkeep::perform(task).await?);
        return Ok(());
    }
    let filter = EnvFilter::try_new(&arguments.log)
        .with_context(|| format!("--log {} is not a level such as info, nor a filter", arguments.log))?;
    let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours).with_writer(std::io::stderr).init();

    let server = Server::bind(arguments.into()).await?;
    // Whoever reads the next line may ask it to stop at once.
    let interrupted = interrupted()?;
    println!("listening on http://{}", server.address());
    if let Some(address) = server.metrics_address() {
        println!("metrics on http://{address}/metrics");
    }
    server.run(interrupted).await;
    Ok(())
}

/// Ends when the process is asked to stop: Ctrl-C anywhere, and SIGTERM on Unix.
fn interrupted() -> std::io::Result<impl Future<Output = ()>> {
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
