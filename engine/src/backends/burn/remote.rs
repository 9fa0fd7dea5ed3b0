//! Burn on a device served by another process.
//!
//! burn-remote sends every tensor operation to the server. The graph stays with the client, and only results that the
//! client reads are sent back. This uses its WebSocket transport, which needs no keys and no internet access, and has
//! neither encryption nor authentication.
//!
//! The protocol does not describe the device, so the server has a custom operation that returns adapter, backend and
//! settings for the record. Every batch is transferred, so measurements also depend on the network.
//!
//! If a server exits or hangs, a call to Burn may block for a long time and cannot be canceled. The native program
//! therefore makes these calls in a separate thread (`native-runner/src/link.rs`) and pings the server. If the server
//! does not answer, it abandons the thread, and the run ends as if the device was lost.

use async_recursion::async_recursion;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::rc::Rc;

use burn_backend::ops::FloatTensorOps;
use burn_backend::{DType, Shape, TensorData};
use burn_dispatch::DispatchDevice;
#[cfg(feature = "burn-cubecl")]
use burn_dispatch::backends::Cube;
#[cfg(feature = "burn-flex")]
use burn_dispatch::backends::Flex;
use burn_dispatch::backends::Remote;
use burn_ir::{BackendIr, TensorIr};
use burn_tensor::Device;
use burn_tensor::remote::{CustomOpClient, RemoteHost};
pub use burn_tensor::server::WebSocketTransport;
use burn_tensor::server::{AuthorizationRequest, CustomOpIr, RemoteServer};
use results::{Adapter, DeviceKind, Precision};
use serde::{Deserialize, Serialize};

use super::FirstUse;
use super::failure::is_broken_link;
use super::parallel::ParallelBackend;
use super::{BurnBackend, TUNED, check_precision, untuned};
use crate::backends::opening::{DIFFERENT, REMOTES};
use crate::backends::sharing::of_device;
use crate::backends::{AdapterChoice, BACKENDS, BURN_REMOTE, Opening, list};
use crate::clock::Clock;
use crate::error::{EngineError, Result};
use crate::trainer::{Backend, BackendFacts};

const DESCRIBE: &str = "gradmark-describe-device";
/// Size of its result in bytes, each sent as a float32. The client must know the shape before the call.
const TEXT_BYTES: usize = 4096;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Description {
    /// Random number of the server. Addresses with the same number are the same device.
    server: u64,
    backend: String,
    adapter: Adapter,
    settings: Vec<String>,
    compiles: bool,
    tunes: bool,
}

/// Connects to the devices at the opening's addresses. Several share each batch.
pub(super) async fn open(opening: &Opening, clock: Rc<dyn Clock>) -> Result<Box<dyn Backend>> {
    check_precision(BURN_REMOTE, opening.precision)?;
    let addresses = &opening.remote;
    let mut devices = Vec::new();
    let mut servers: Vec<u64> = Vec::new();
    for (place, address) in addresses.iter().enumerate() {
        let (backend, server) =
            connect(address, &opening.adapter, Rc::clone(&clock)).await.map_err(|error| match error {
                EngineError::Unreachable { .. } => error,
                _ if addresses.len() == 1 => error,
                _ => of_device(place, addresses.len(), address)(error),
            })?;
        if let Some(same) = servers.iter().position(|other| *other == server) {
            let value = format!("{} and {address}, which are the same device", addresses[same]);
            return Err(EngineError::invalid(REMOTES, DIFFERENT, value));
        }
        servers.push(server);
        devices.push((backend, address.clone()));
    }
    if addresses.len() > 1 {
        return Ok(Box::new(ParallelBackend::new(devices, clock)?));
    }
    let (backend, _) = devices.pop().ok_or(EngineError::NoHost { backend: BURN_REMOTE })?;
    Ok(Box::new(backend))
}

/// Connects to a device and returns the number of its server.
async fn connect(address: &str, choice: &AdapterChoice, clock: Rc<dyn Clock>) -> Result<(BurnBackend, u64)> {
    let unreachable = |reason: String| EngineError::Unreachable { address: address.to_owned(), reason };
    let host = RemoteHost::websocket(&format!("ws://{address}"));
    let device = Device::remote_options(&host).init_async().await.map_err(|error| unreachable(error.to_string()))?;
    let Description { server, backend, mut adapter, mut settings, compiles, tunes } =
        Description::of(&device).await.map_err(|message| {
            if is_broken_link(&message) {
                EngineError::LinkLost
            } else {
                unreachable("what answers there is not `native-runner serve-device` of this version".to_owned())
            }
        })?;
    check_adapter(choice, &adapter)?;
    adapter.name = format!("remote {}", adapter.name);
    settings.push(format!("burn remote: {backend} through a WebSocket"));
    settings.push("burn remote: processor time and memory are the client's".to_owned());
    let first_use = FirstUse::new(compiles, tunes);
    let warnings = untuned(BURN_REMOTE, first_use, &adapter);
    let facts = BackendFacts { warnings, ..BackendFacts::new(BURN_REMOTE, adapter, Precision::F32) };
    Ok((BurnBackend { facts, device, settings, first_use, clock }, server))
}

/// Checks the server's adapter against the choice. `any` also accepts a software adapter.
fn check_adapter(choice: &AdapterChoice, adapter: &Adapter) -> Result<()> {
    match choice {
        AdapterChoice::Any => Ok(()),
        AdapterChoice::Cpu if adapter.kind == DeviceKind::Cpu => Ok(()),
        _ => choice.choose(std::slice::from_ref(adapter)).map(|_| ()),
    }
}

impl Description {
    async fn of(device: &Device) -> Result<Self, String> {
        let stranger = || "no description of a device".to_owned();
        let device = device.clone().inner();
        let DispatchDevice::Remote(remote) = device.as_dispatch() else { return Err(stranger()) };
        let client = CustomOpClient::new(remote);
        let text = TensorIr::uninit(client.create_empty_handle(), Shape::from([TEXT_BYTES]), DType::F32);
        let described = client.register(CustomOpIr::new(DESCRIBE, &[], &[text])).pop().ok_or_else(stranger)?;
        let data =
            <Remote as FloatTensorOps<Remote>>::float_into_data(described).await.map_err(|error| error.to_string())?;
        let values = data.as_slice::<f32>().map_err(|_| stranger())?;
        Self::read(values).ok_or_else(stranger)
    }

    fn write(&self) -> Result<Vec<f32>> {
        let mut text = serde_json::to_vec(self).unwrap_or_default();
        if text.is_empty() || text.len() > TEXT_BYTES {
            return Err(EngineError::refused(format!("{} is described in {} bytes", self.adapter.name, text.len())));
        }
        text.resize(TEXT_BYTES, b' ');
        Ok(text.into_iter().map(f32::from).collect())
    }

    /// Parses the description. Removes control characters, because the server is not trusted.
    fn read(values: &[f32]) -> Option<Self> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "each value is a byte")]
        let text: Vec<u8> = values.iter().map(|&value| value as u8).collect();
        let mut description: Self = serde_json::from_slice(&text).ok()?;
        let Self { backend, adapter, settings, .. } = &mut description;
        let Adapter { name, vendor, architecture, api, driver, .. } = adapter;
        for shown in [backend, name, vendor, architecture, api, driver].into_iter().chain(settings) {
            shown.retain(|letter| !letter.is_control());
        }
        Some(description)
    }
}

pub struct DeviceServer {
    backend: BurnBackend,
    server: RemoteServer,
}

impl DeviceServer {
    /// Returns the backends of this build whose devices can be served.
    pub fn backends() -> impl Iterator<Item = &'static str> {
        BACKENDS.iter().map(|backend| backend.name).filter(|name| name.starts_with("burn-") && *name != BURN_REMOTE)
    }

    /// Opens the device of the backend named `name`. Fails if it cannot be served or opened.
    #[async_recursion(?Send)]
    pub async fn open(name: &str, opening: &Opening, clock: Rc<dyn Clock>) -> Result<Self> {
        let known = list::find_known(name)?;
        if !Self::backends().any(|servable| servable == known) {
            let servable: Vec<&str> = Self::backends().collect();
            let allowed = format!("one of Burn's in this program ({})", servable.join(", "));
            return Err(EngineError::invalid("the backend of a served device", allowed, name));
        }
        opening.check(&[known])?;
        let backend = super::open_one(known, opening, clock).await?;
        let description = Description {
            server: RandomState::new().build_hasher().finish(),
            backend: known.to_owned(),
            adapter: backend.adapter().clone(),
            settings: backend.settings.clone(),
            compiles: backend.first_use != FirstUse::Ordinary,
            tunes: TUNED,
        };
        let server = server(backend.device.clone(), description.write()?)?;
        Ok(Self { backend, server })
    }

    pub fn name(&self) -> &'static str {
        self.backend.name()
    }

    pub fn adapter(&self) -> &Adapter {
        self.backend.adapter()
    }

    /// Serves all clients until the future is dropped, which ends all sessions. Must be awaited in a tokio runtime.
    /// `arrived` is called for each client that begins to compute; Burn does not report when a client leaves.
    #[async_recursion(?Send)]
    pub async fn serve(self, transport: WebSocketTransport, arrived: Box<dyn Fn(String) + Send + Sync>) -> Result<()> {
        let admit = move |request: AuthorizationRequest<'_>| {
            arrived(request.client.to_string());
            Ok(())
        };
        let served = self.server.with_authorizer(admit).serve_async(transport).await;
        served.map_err(EngineError::refused)
    }
}

/// Returns a server that answers [`DESCRIBE`] with `text`.
fn server(device: Device, text: Vec<f32>) -> Result<RemoteServer> {
    let server = RemoteServer::new([device.clone()]);
    match device.inner().as_dispatch() {
        #[cfg(feature = "burn-flex")]
        DispatchDevice::Flex(_) => Ok(describing::<Flex>(server, text)),
        #[cfg(feature = "burn-cubecl")]
        DispatchDevice::Cube(_) => Ok(describing::<Cube>(server, text)),
        _ => {
            drop((server, text));
            Err(EngineError::refused("Burn cannot serve this device"))
        }
    }
}

#[cfg_attr(
    not(any(feature = "burn-flex", feature = "burn-cubecl")),
    expect(dead_code, reason = "a program that has nothing to serve can still train elsewhere")
)]
fn describing<B: BackendIr>(server: RemoteServer, text: Vec<f32>) -> RemoteServer {
    server.with_custom_op::<B, _>(DESCRIBE, move |handles, operation, device| {
        let [output] = operation.outputs.as_slice() else { return };
        let tensor = B::float_from_data(TensorData::new(text.clone(), [TEXT_BYTES]), device);
        handles.register_float_tensor::<B>(&output.id, tensor);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn description() -> Description {
        let adapter = Adapter {
            driver: "580.1 – ünïcode".to_owned(),
            ..crate::testing::adapter("NVIDIA H200", DeviceKind::Discrete, "Vulkan")
        };
        let (backend, settings) = ("burn-wgpu".to_owned(), vec!["burn: 1".to_owned()]);
        Description { server: u64::MAX, backend, adapter, settings, compiles: true, tunes: false }
    }

    #[test]
    fn a_description_survives_its_journey_as_numbers() {
        assert_eq!(Description::read(&description().write().unwrap()), Some(description()));
        assert_eq!(Description::read(&[0.0; TEXT_BYTES]), None);
        let mut long = description();
        long.adapter.driver = "x".repeat(TEXT_BYTES);
        assert!(long.write().is_err());
    }

    #[test]
    fn what_a_server_reports_cannot_control_the_terminal() {
        let mut rude = description();
        rude.adapter.name = "\u{1b}[2JNVIDIA\n".to_owned();
        assert_eq!(Description::read(&rude.write().unwrap()).unwrap().adapter.name, "[2JNVIDIA");
    }

    #[test]
    fn nobody_gets_another_device_than_the_one_asked_for() {
        let adapter = description().adapter;
        let fits = |choice: &str| check_adapter(&choice.parse().unwrap(), &adapter).is_ok();
        assert!(["any", "discrete", "h200", "0"].into_iter().all(fits));
        assert!(!["integrated", "cpu", "radeon", "1"].into_iter().any(fits));
    }
}
