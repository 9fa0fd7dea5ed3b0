use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZero;

use clap::Args;
use engine::AdapterChoice;
use engine::backends::Opening;
use results::Precision;

use super::place::{PORT, threads};
use super::short_text;
use crate::processor;

const SERVE_DEVICE_EXAMPLES: &str = "\
Examples:
  native-runner serve-device                       the first of Burn's back ends in this program
  native-runner serve-device --backend burn-flex --threads 4
                                                   four cores of the processor
  native-runner serve-device --backend burn-wgpu --adapter discrete --bind 0.0.0.0:4400
                                                   a GPU, to everybody who can reach this machine

On the machine that trains:
  native-runner --backend burn-remote --remote gpu.example

Two GPUs of one machine, which share each batch:
  native-runner serve-device --backend burn-wgpu --adapter 0 --bind 127.0.0.1:4400
  native-runner serve-device --backend burn-wgpu --adapter 1 --bind 127.0.0.1:4401
  native-runner --backend burn-remote --remote 127.0.0.1:4400,127.0.0.1:4401

Through an encrypted tunnel, with the server on its loopback address:
  ssh -N -L 4400:127.0.0.1:4400 gpu.example
  native-runner --backend burn-remote --remote 127.0.0.1

Every operation on tensors travels, and so does every batch: how fast it learns says as much about
the network as about the device. Nobody is asked who they are, and nothing is encrypted.";

#[derive(Debug, Args)]
#[command(after_help = SERVE_DEVICE_EXAMPLES)]
pub(crate) struct ServeDeviceArgs {
    /// One of Burn's back ends [default: the first that this program has]; `native-runner backends` lists them
    #[arg(long, value_name = "NAME")]
    pub(crate) backend: Option<String>,
    /// Adapter to serve, as for a run; `native-runner adapters` lists them
    #[arg(long, value_name = "ADAPTER", default_value = "any", value_parser = short_text)]
    adapter: String,
    /// Threads that `burn-flex` computes with on the processor [default: one for each core]
    #[arg(long, value_name = "N", value_parser = threads())]
    threads: Option<NonZero<usize>>,
    /// Address and port to listen on; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT))]
    pub(crate) bind: SocketAddr,
}

impl ServeDeviceArgs {
    pub(crate) fn opening(&self) -> Opening {
        let choice: AdapterChoice = self.adapter.parse().unwrap_or_else(|never: Infallible| match never {});
        let (threads, processor) = (self.threads, processor::name());
        Opening { threads, processor, ..Opening::new(Precision::F32, &choice) }
    }
}
