use results::InputMode;

/// How a job is trained, beside what the job itself says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setup {
    /// Devices that share each batch.
    pub(super) devices: u32,
    /// When these tell each other their gradients.
    pub(super) exchanging: Exchanging,
    pub(super) input: InputMode,
}

/// When devices that share each batch tell each other their gradients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchanging {
    /// All of them, after the backward pass.
    Afterwards,
    /// In parts, each as soon as it is computed, while the devices compute the others.
    WhileComputing,
}

impl Setup {
    /// On one device, on which the data set lies.
    pub(super) const STANDARD: Self =
        Self { devices: 1, exchanging: Exchanging::Afterwards, input: InputMode::Resident };

    /// On one of so many devices that share each batch.
    pub(super) fn of_devices(devices: u32, exchanging: Exchanging) -> Self {
        Self { devices, exchanging, ..Self::STANDARD }
    }

    /// On one device, to which batches come in this way.
    pub(super) fn of_input(input: InputMode) -> Self {
        Self { input, ..Self::STANDARD }
    }
}
