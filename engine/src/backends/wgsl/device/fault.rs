use crate::error::EngineError;

/// The first thing that a driver complained about.
#[derive(Clone, Debug)]
pub(in crate::backends::wgsl) enum Fault {
    OutOfMemory(String),
    Lost(String),
    Refused(String),
}

impl Fault {
    pub(in crate::backends::wgsl) fn of(error: &wgpu::Error) -> Self {
        match error {
            wgpu::Error::OutOfMemory { .. } => Self::OutOfMemory(error.to_string()),
            _ => Self::Refused(error.to_string()),
        }
    }

    pub(in crate::backends::wgsl) fn into_error(self) -> EngineError {
        match self {
            Self::OutOfMemory(message) => EngineError::OutOfMemory { message },
            Self::Lost(message) => EngineError::DeviceLost { message },
            Self::Refused(message) => EngineError::DeviceRefused { message },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::kernel_tests::with_device;
    use super::*;

    #[test]
    fn a_device_that_refused_something_computes_again_once_it_has_recovered() {
        with_device(|device| {
            let ask = || {
                let nothing = device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
                pollster::block_on(device.submit(nothing.finish()))
            };
            ask().unwrap();
            drop(device.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("larger than any"),
                size: u64::MAX / 8 * 4,
                usage: wgpu::BufferUsages::STORAGE,
                mapped_at_creation: false,
            }));
            assert!(matches!(ask(), Err(EngineError::DeviceRefused { .. })));
            pollster::block_on(device.recover()).unwrap();
            ask().unwrap();
        });
    }

    #[test]
    fn a_device_that_is_lost_does_not_recover() {
        with_device(|device| {
            device.fault.lock().unwrap().get_or_insert(Fault::Lost("a test".to_owned()));
            for _ in 0..2 {
                let error = pollster::block_on(device.recover()).unwrap_err();
                assert!(matches!(error, EngineError::DeviceLost { .. }), "{error}");
            }
        });
    }
}
