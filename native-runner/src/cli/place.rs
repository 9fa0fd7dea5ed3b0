use std::num::NonZero;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use engine::AdapterChoice;
use engine::backends::{Feature, Opening};
use results::Precision;

use super::{ProgramArgs, positive_seconds};
use crate::kept::KeptFile;
use crate::processor;

/// Where devices are served and looked for unless another port is named.
pub(super) const PORT: u16 = 4400;

/// More of where to compute, each for one back end only.
#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// Threads that `burn-flex` computes with on the processor [default: one for each core]
    #[arg(long, value_name = "N", help_heading = "Device", value_parser = threads())]
    threads: Option<NonZero<usize>>,
    /// Where `native-runner serve-device` serves the device of `burn-remote`; the port is 4400 unless it is said. Devices at
    /// several addresses, separated by commas, share each batch, as one with the whole batch would train
    #[arg(
        long,
        value_name = "HOST[:PORT]",
        value_delimiter = ',',
        help_heading = "Device",
        value_parser = host_and_port
    )]
    pub(crate) remote: Vec<String>,
    /// Seconds without a sign of life after which a remote device is given up
    #[arg(
        long,
        value_name = "X",
        help_heading = "Device",
        default_value_t = 30.0,
        value_parser = positive_seconds,
        requires = "remote"
    )]
    pub(crate) remote_timeout: f64,
    /// Features of the device that `wgsl` does without, separated by commas: `subgroups`, `f16`, `timestamps`. Such a run
    /// shows what they bring, and is never ranked
    #[arg(long, value_name = "A,B", value_delimiter = ',', help_heading = "Device", value_parser = feature)]
    without: Vec<Feature>,
    /// Whether several devices of `wgsl` exchange the gradients that are there while they compute the others: `on` or `off`
    /// [default: on, but off on a software adapter, whose cores would have to do both]
    #[arg(long, value_name = "SWITCH", help_heading = "Device", value_parser = on_or_off())]
    overlap: Option<bool>,
    #[command(flatten)]
    pub(crate) external: ProgramArgs,
    /// Time the kernels again, instead of taking those that were the fastest on this device before
    #[arg(long, help_heading = "Device")]
    retune: bool,
}

impl PlaceArgs {
    pub(crate) fn opening(&self, precision: Precision, adapter: &AdapterChoice) -> Opening {
        Opening {
            threads: self.threads,
            remote: self.remote.clone(),
            without: self.without.clone(),
            overlap: self.overlap,
            processor: processor::name(),
            keeper: KeptFile::of_the_user(self.retune),
            ..Opening::new(precision, adapter)
        }
    }
}

/// More devices than this are in no machine.
pub(super) fn devices() -> impl clap::builder::TypedValueParser<Value = NonZero<u32>> {
    clap::value_parser!(u32).range(1..=64).try_map(NonZero::try_from)
}

/// More threads than this are a slip of the finger on any machine.
pub(super) fn threads() -> impl clap::builder::TypedValueParser<Value = NonZero<usize>> {
    clap::value_parser!(u16).range(1..=1024).try_map(|count| NonZero::try_from(usize::from(count)))
}

fn on_or_off() -> impl clap::builder::TypedValueParser<Value = bool> {
    PossibleValuesParser::new(["on", "off"]).map(|word| word == "on")
}

fn feature(text: &str) -> Result<Feature, String> {
    Feature::named(text.trim()).ok_or_else(|| {
        let known: Vec<&str> = Feature::ALL.into_iter().map(Feature::name).collect();
        format!("it must be one of {}", known.join(", "))
    })
}

/// `HOST`, `HOST:PORT`, or an address of version 6 in brackets.
pub(super) fn host_and_port(text: &str) -> Result<String, String> {
    let text = text.trim();
    let wrong = || format!("it must be a host and, unless it is {PORT}, a port, as in `gpu.example:{PORT}`");
    if text.is_empty() || text.chars().any(|letter| "/?#@,".contains(letter) || letter <= ' ' || letter.is_control()) {
        return Err(wrong());
    }
    let end_of_host = text.find(']').map_or(0, |bracket| bracket + 1);
    let (host, port) = match text[end_of_host..].rfind(':') {
        Some(colon) => (&text[..end_of_host + colon], text[end_of_host + colon + 1..].parse().map_err(|_| wrong())?),
        None => (text, PORT),
    };
    let is_bracketed = host.starts_with('[') && host.ends_with(']');
    if host.is_empty() || port == 0 || (host.contains(':') && !is_bracketed) {
        return Err(wrong());
    }
    Ok(format!("{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remote_device_is_named_by_its_host_and_perhaps_a_port() {
        let cases = [
            ("gpu", "gpu:4400"),
            ("gpu.example:80", "gpu.example:80"),
            ("127.0.0.1:1", "127.0.0.1:1"),
            ("[::1]", "[::1]:4400"),
            ("[::1]:9", "[::1]:9"),
        ];
        for (typed, expected) in cases {
            assert_eq!(host_and_port(typed).as_deref(), Ok(expected), "{typed}");
        }
        for wrong in ["", ":80", "gpu:", "gpu:x", "gpu:0", "gpu:70000", "ws://gpu", "::1", "a b", "me@gpu", "[::1]x"] {
            assert!(host_and_port(wrong).is_err(), "{wrong}");
        }
    }
}
