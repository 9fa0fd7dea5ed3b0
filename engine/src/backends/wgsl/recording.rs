//! Work for a device, as plain data.

use shaders::Kernel;

use crate::trainer::EvaluationSet;

/// Distance of two entries of the step table: what WebGPU asks of dynamic offsets.
pub(super) const STEP_STRIDE_BYTES: u32 = 256;
/// Distance of two parameter blocks: what WebGPU asks of uniform bindings.
pub(super) const PARAMS_STRIDE_BYTES: u64 = 256;
/// A dimension of a dispatch holds at most so many workgroups.
const LARGEST_DIMENSION: u32 = 65_535;

/// A buffer to allocate.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BufferPlan {
    pub(super) name: &'static str,
    pub(super) bytes: u64,
    pub(super) uniform: bool,
    pub(super) contents: BufferContents,
}

/// What a buffer starts with.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum BufferContents {
    Zeros,
    /// Something small, such as parameter blocks.
    Bytes(Vec<u8>),
    /// Something of the job that is planned, computed when the buffer is filled.
    Job(JobPart),
}

/// A part of a job that lies in a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobPart {
    /// Start values of all tensors, where the plan's layouts put them.
    Weights,
    /// The same, rounded to what products read.
    RoundedWeights,
    /// Learning rate, weight decay and freezing of each block of the arena.
    BlockMultipliers,
    MeanImage,
    /// The order in which samples are evaluated.
    Order(EvaluationSet),
    /// Order of the samples in the file, if training follows it.
    FileOrder,
    /// Pictures or stories of half a data set, each sample filled up to whole words. All jobs share them.
    Images(Half),
    /// All jobs share them.
    Labels(Half),
}

/// Half of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    Training,
    Test,
}

/// A part of a buffer that a kernel sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BufferRange {
    /// Place in the plan's list of buffers.
    pub(super) buffer: usize,
    pub(super) offset_bytes: u64,
    pub(super) bytes: u64,
}

impl BufferRange {
    /// Whether both have a byte in common.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.buffer == other.buffer
            && self.offset_bytes < other.offset_bytes + other.bytes
            && other.offset_bytes < self.offset_bytes + self.bytes
    }
}

/// One launch of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Dispatch {
    pub(super) kernel: &'static Kernel,
    /// Values of the kernel's `override` constants that differ from their defaults or may do so.
    pub(super) constants: Vec<(&'static str, f64)>,
    /// Where its parameter block lies in the plan's buffer of parameters.
    pub(super) params_offset_bytes: u64,
    /// Storage buffers in binding order.
    pub(super) bindings: Vec<BufferRange>,
    pub(super) workgroups: [u32; 2],
    /// Roughly how much it computes, by which submissions are divided.
    pub(super) operations: u64,
}

impl Dispatch {
    /// Launches with the same key share a pipeline.
    pub(super) fn pipeline_key(&self) -> String {
        let constants: Vec<String> = self.constants.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{} {}", self.kernel.name, constants.join(" "))
    }
}

/// The launches of one step, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recording {
    pub(super) dispatches: Vec<Dispatch>,
    /// Where several devices that share each batch tell each other what they found, in the order of the launches after
    /// which they do; nothing where there is one.
    pub(super) exchanges: Vec<Exchange>,
}

/// A place in a recording at which what several devices found becomes one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Exchange {
    /// Launches that come before it.
    pub(super) after: usize,
    /// Launches that may be done before its result is there: devices go on with those while the host exchanges.
    pub(super) until: usize,
    /// Place of the staging buffer that it is read through, among those of the plan.
    pub(super) staging: usize,
    /// What each device found, in f32.
    pub(super) read: BufferRange,
    /// Where each gets what all of them found.
    pub(super) write: BufferRange,
    pub(super) combination: Combination,
}

impl Exchange {
    /// Whether devices can do nothing before its result is there.
    pub(super) fn is_waited_for(&self) -> bool {
        self.after == self.until
    }
}

/// What becomes of what several devices found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combination {
    /// Element by element.
    Sum,
    /// Means and sums of squared deviations of parts of each device's pixels, (parts, 2, channels), become those of all
    /// pixels of the batch, (1, 2, channels).
    Moments { channels: u32, pixels_of_sample: u32, pixels_per_part: u32 },
}

/// Operations of an invocation of a kernel that is no product: it takes a few values, and does little with them.
const OPERATIONS_OF_AN_INVOCATION: u64 = 64;

/// About how much the invocations of a kernel that is no product compute.
pub(super) fn operations_of(invocations: u64) -> u64 {
    OPERATIONS_OF_AN_INVOCATION * invocations
}

/// Workgroups, in x and y, that hold `invocations` invocations of a kernel.
pub(super) fn workgroups(invocations: u64, workgroup_size: u32) -> [u32; 2] {
    let groups = u32::try_from(invocations.div_ceil(u64::from(workgroup_size))).unwrap_or(u32::MAX).max(1);
    let rows = groups.div_ceil(LARGEST_DIMENSION);
    [groups.div_ceil(rows), rows]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_workgroups_spread_over_two_dimensions() {
        assert_eq!(workgroups(1, 64), [1, 1]);
        assert_eq!(workgroups(65, 64), [2, 1]);
        let [x, y] = workgroups(64 * 100_000, 64);
        assert!(x <= LARGEST_DIMENSION && u64::from(x) * u64::from(y) >= 100_000, "{x} × {y}");
    }
}
