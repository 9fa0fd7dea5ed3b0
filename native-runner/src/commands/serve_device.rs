use std::net::TcpListener;
use std::rc::Rc;
use std::sync::Arc;

use console::Style;
use engine::backends::served::{DeviceServer, WebSocketTransport};
use tokio::runtime::Runtime;
use tokio::sync::Notify;

use crate::cli::ServeDeviceArgs;
use crate::clock::MonotonicClock;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::screen::Screen;

/// Serves a device of this machine until Ctrl-C.
pub(crate) fn serve_device(arguments: &ServeDeviceArgs) -> Result<(), Failure> {
    let name = match &arguments.backend {
        Some(name) => name.trim(),
        None => DeviceServer::backends().next().ok_or_else(|| Failure::Usage(NOTHING_TO_SERVE.to_owned()))?,
    };
    let failed = |source| Failure::File { what: format!("cannot listen on {}", arguments.bind), source };
    let listener = TcpListener::bind(arguments.bind).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let server = pollster::block_on(DeviceServer::open(name, &arguments.opening(), Rc::new(MonotonicClock::start())))?;
    if !address.ip().is_loopback() {
        let mark = Screen::Error.paint(Style::new().yellow().bold(), "!");
        Screen::Error.prose(&format!("{mark} "), OPEN_TO_ALL, 2)?;
    }
    let interrupt = Interrupt::default();
    let stop = Arc::new(Notify::new());
    let asked = Arc::clone(&stop);
    interrupt.listen(move || asked.notify_one());
    Screen::Output.line(&format!("Serving {} with {} at {address}", server.adapter().name, server.name()))?;
    Screen::Error.line("Ctrl-C ends it, whoever computes then.")?;

    let runtime = Runtime::new().map_err(|source| Failure::File { what: "threads".to_owned(), source })?;
    let served = runtime.block_on(async {
        // A closed terminal is no reason to stop serving.
        let arrived = |client: String| drop(Screen::Error.line(&format!("{client} begins to compute")));
        tokio::select! {
            served = server.serve(WebSocketTransport::from_listener(listener), arrived) => served,
            () = stop.notified() => Ok(()),
        }
    });
    // What is still computing for somebody ends with the program.
    runtime.shutdown_background();
    served?;
    Screen::Error.line("Stopped.")
}

const NOTHING_TO_SERVE: &str = "only devices of Burn's back ends can be served, and this program has none; \
                                `--features burn-flex,burn-remote` on cargo's command line adds the processor";

const OPEN_TO_ALL: &str = "Whoever reaches this address can compute here, and the network can read along: nobody is \
                           asked who they are, and nothing is encrypted. Where that matters, serve on 127.0.0.1 and \
                           reach it through `ssh -L`, as --help shows.";
