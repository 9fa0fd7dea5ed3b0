use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::num::NonZero;
use std::rc::Rc;
use std::sync::Arc;

use clap::Args;
use engine::backends::Opening;
use engine::backends::served::{DeviceServer, WebSocketTransport};
use results::Precision;
use tokio::runtime::Runtime;
use tokio::sync::Notify;

use crate::arguments::{AdapterArgs, PORT, adapter_choice, threads};
use crate::failure::{Failure, Result};
use crate::machine;
use crate::meter::MonotonicClock;
use crate::progress::Interrupt;
use crate::screen::Screen;

pub(crate) fn serve_device(arguments: &ServeDeviceArgs) -> Result<()> {
    let name = match &arguments.backend {
        Some(name) => name.trim(),
        None => DeviceServer::backends().next().ok_or_else(|| Failure::Usage(NOTHING_TO_SERVE.to_owned()))?,
    };
    let failed = |source| Failure::File { what: format!("cannot listen on {}", arguments.bind), source };
    let listener = TcpListener::bind(arguments.bind).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let server = pollster::block_on(DeviceServer::open(name, &arguments.opening(), Rc::new(MonotonicClock::start())))?;
    if !address.ip().is_loopback() {
        Screen::Error.caution(OPEN_TO_ALL)?;
    }
    let interrupt = Interrupt::default();
    let stop = Arc::new(Notify::new());
    let asked = Arc::clone(&stop);
    interrupt.listen(move || asked.notify_one());
    Screen::Output.line(&format!("Serving {} with {} at {address}", server.adapter().name, server.name()))?;
    Screen::Error.line("Press Ctrl-C to stop serving and disconnect all clients.")?;

    let runtime = Runtime::new().map_err(|source| Failure::File { what: "threads".to_owned(), source })?;
    let served = runtime.block_on(async {
        // A closed terminal is no reason to stop serving.
        let arrived = |client: String| drop(Screen::Error.line(&format!("{client} begins to compute")));
        tokio::select! {
            served = server.serve(WebSocketTransport::from_listener(listener), Box::new(arrived)) => served,
            () = stop.notified() => Ok(()),
        }
    });
    // Computations for clients end with the program.
    runtime.shutdown_background();
    served?;
    Screen::Error.line("Stopped.")
}

const NOTHING_TO_SERVE: &str = "only devices of Burn's backends can be served, but this program has none; build it \
                                with `--features burn-flex,burn-remote` to add the processor";

const OPEN_TO_ALL: &str = "Anyone who can reach this address can use the device: connections are neither authenticated \
                           nor encrypted. For a private connection, serve on 127.0.0.1 and use `ssh -L`, as shown in \
                           --help.";

const SERVE_DEVICE_EXAMPLES: &str = "\
Examples:
  native-runner serve-device                       serve the first of Burn's backends
  native-runner serve-device --backend burn-flex --threads 4
                                                   serve four cores of the processor
  native-runner serve-device --backend burn-wgpu --adapter discrete --bind 0.0.0.0:4400
                                                   serve a GPU to every machine that can reach this one

On the machine that trains:
  native-runner --backend burn-remote --remote gpu.example

Sharing each batch between two GPUs of one machine:
  native-runner serve-device --backend burn-wgpu --adapter 0 --bind 127.0.0.1:4400
  native-runner serve-device --backend burn-wgpu --adapter 1 --bind 127.0.0.1:4401
  native-runner --backend burn-remote --remote 127.0.0.1:4400,127.0.0.1:4401

Using an encrypted tunnel, with the server on its loopback address:
  ssh -N -L 4400:127.0.0.1:4400 gpu.example
  native-runner --backend burn-remote --remote 127.0.0.1

All tensor operations and batches are sent over the network, so the speed depends on the network as
much as on the device. Connections are neither authenticated nor encrypted.";

#[derive(Debug, Args)]
#[command(
    after_help = SERVE_DEVICE_EXAMPLES,
    mut_arg("adapter", |arg| arg.help("Adapter to serve, as for a run; `native-runner adapters` lists them"))
)]
pub(crate) struct ServeDeviceArgs {
    /// Backend of Burn to serve [default: the first in this program]; `native-runner backends` lists them
    #[arg(long, value_name = "NAME")]
    pub(crate) backend: Option<String>,
    #[command(flatten)]
    adapter: AdapterArgs,
    /// Number of threads for `burn-flex` [default: one per core]
    #[arg(long, value_name = "N", value_parser = threads())]
    threads: Option<NonZero<usize>>,
    /// Address and port to listen on; port 0 selects a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT))]
    pub(crate) bind: SocketAddr,
}

impl ServeDeviceArgs {
    pub(crate) fn opening(&self) -> Opening {
        let (threads, processor) = (self.threads, machine::name());
        Opening { threads, processor, ..Opening::new(Precision::F32, &adapter_choice(&self.adapter.adapter)) }
    }
}
