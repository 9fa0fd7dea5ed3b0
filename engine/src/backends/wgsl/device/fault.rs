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
