use results::InputMode;

/// How a job is trained, beside what the job itself says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setup {
    /// Devices that share each batch.
    pub(super) devices: u32,
    pub(super) input: InputMode,
}

impl Setup {
    /// On one device, on which the data set lies.
    pub(super) const STANDARD: Self = Self { devices: 1, input: InputMode::Resident };

    /// On one of so many devices that share each batch.
    pub(super) fn of_devices(devices: u32) -> Self {
        Self { devices, ..Self::STANDARD }
    }

    /// On one device, to which batches come in this way.
    pub(super) fn of_input(input: InputMode) -> Self {
        Self { input, ..Self::STANDARD }
    }
}
