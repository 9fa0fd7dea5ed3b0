//! Device work as plain data.

use bytemuck::Pod;
use shaders::Kernel;
use shaders::params::{Epilogue, Step};

use super::products::{Params, Product};
use super::variants::Variant;
use crate::data::{DataSet, Split};
use crate::trainer::EvaluationSet;

/// Index of the buffer with the step table.
pub(super) const STEPS: usize = 0;
/// Index of the buffer with the parameter blocks.
pub(super) const PARAMS: usize = 1;
/// Stride of the step table, as WebGPU requires of dynamic offsets.
pub(super) const STEP_STRIDE_BYTES: u32 = 256;
/// Stride of parameter blocks, as WebGPU requires of uniform bindings.
pub(super) const PARAMS_STRIDE_BYTES: u64 = 256;
/// Maximum number of workgroups per dimension of a dispatch.
const MAX_DIMENSION: u32 = 65_535;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BufferPlan {
    pub(super) name: &'static str,
    pub(super) bytes: u64,
    pub(super) uniform: bool,
    pub(super) contents: BufferContents,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BufferContents {
    Zeros,
    /// Small contents, such as parameter blocks.
    Bytes(Vec<u8>),
    /// A part of the job, computed when the buffer is filled.
    Job(JobPart),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobPart {
    Weights,
    /// Like `Weights`, rounded to the precision that products read.
    RoundedWeights,
    /// Learning rate, weight decay and freezing of each block of the arena.
    BlockMultipliers,
    MeanImage,
    Order(EvaluationSet),
    /// Order of the samples in the file, if training follows it.
    FileOrder,
    /// Images or stories of half a data set, each padded to whole words. All jobs share them.
    Images(Half),
    Labels(Half),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    Training,
    Test,
}

impl Half {
    pub(super) fn of(self, data: &DataSet) -> &Split {
        match self {
            Self::Training => &data.train,
            Self::Test => &data.test,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BufferRange {
    /// Index in the plan's list of buffers.
    pub(super) buffer: usize,
    pub(super) offset_bytes: u64,
    pub(super) bytes: u64,
}

impl BufferRange {
    /// Returns part of an arena, which begins with its buffer.
    pub(super) fn part(self, offset: u32, elements: u32, element_bytes: u64) -> Self {
        let bytes = |elements: u32| element_bytes * u64::from(elements);
        Self { buffer: self.buffer, offset_bytes: bytes(offset), bytes: bytes(elements) }
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.buffer == other.buffer
            && self.offset_bytes < other.offset_bytes + other.bytes
            && other.offset_bytes < self.offset_bytes + self.bytes
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Dispatch {
    pub(super) kernel: &'static Kernel,
    pub(super) product: Option<Product>,
    /// Epilogue in the parameter block, for kernels with one.
    epilogue: Option<Epilogue>,
    /// Offset of the parameter block in the plan's parameter buffer.
    pub(super) params_offset_bytes: u64,
    /// Storage buffers in binding order.
    pub(super) bindings: Vec<BufferRange>,
    pub(super) workgroups: [u32; 2],
    /// Approximate number of operations, used to divide work into submissions.
    pub(super) operations: u64,
}

impl Dispatch {
    /// Returns the values of the kernel's `override` constants that may differ from their defaults.
    pub(super) fn constants(&self) -> Vec<(&'static str, f64)> {
        let stride = match self.product {
            Some(Product { params: Params::Conv2d(params), .. }) => Some(("STRIDE", f64::from(params.stride))),
            _ => None,
        };
        let parts = self.epilogue.map(|Epilogue { activation, dropout_stream, .. }| {
            [("ACTIVATION", f64::from(activation)), ("HAS_DROPOUT", f64::from(dropout_stream != 0))]
        });
        stride.into_iter().chain(parts.into_iter().flatten()).collect()
    }

    /// Launches with the same key share a pipeline.
    pub(super) fn pipeline_key(&self) -> String {
        let constants: Vec<String> = self.constants().iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{} {}", self.kernel.name, constants.join(" "))
    }
}

/// The launches of one step, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recording {
    pub(super) dispatches: Vec<Dispatch>,
    pub(super) exchanges: Vec<Exchange>,
}

/// Point in a recording where the results of several devices are combined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Exchange {
    /// Number of launches before it.
    pub(super) after: usize,
    /// End of the launches that do not need its result. Devices execute them while the host exchanges.
    pub(super) until: usize,
    pub(super) staging: usize,
    /// Results of each device, in f32.
    pub(super) read: BufferRange,
    pub(super) write: BufferRange,
    pub(super) combination: Combination,
}

impl Exchange {
    pub(super) fn is_waited_for(&self) -> bool {
        self.after == self.until
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Combination {
    Sum,
    /// Means and sums of squared deviations over parts of each device's pixels, (parts, 2, channels), are combined over
    /// all pixels of the batch, (1, 2, channels).
    Moments {
        channels: u32,
        pixels_of_sample: u32,
        pixels_per_part: u32,
    },
}

pub(super) fn step_rows(steps: impl IntoIterator<Item = Step>) -> Vec<u8> {
    let mut rows = Vec::new();
    for step in steps {
        rows.extend(bytemuck::bytes_of(&step));
        rows.resize(rows.len().next_multiple_of(STEP_STRIDE_BYTES as usize), 0);
    }
    rows
}

/// Returns the workgroups, in x and y, that hold `invocations` invocations of a kernel.
pub(super) fn workgroups(invocations: u64, workgroup_size: u32) -> [u32; 2] {
    let groups = u32::try_from(invocations.div_ceil(u64::from(workgroup_size))).unwrap_or(u32::MAX).max(1);
    let rows = groups.div_ceil(MAX_DIMENSION);
    [groups.div_ceil(rows), rows]
}

/// Operations per invocation of a kernel that is not a product and does little work on a few values.
const OPERATIONS_PER_INVOCATION: u64 = 64;

/// Collects buffers, parameter blocks and launches. The first two hold the step table and the parameter blocks.
pub(crate) struct Builder {
    buffers: Vec<BufferPlan>,
    params: Vec<u8>,
    recording: Recording,
}

impl Builder {
    pub(crate) fn new(step_rows: u32) -> Self {
        let mut builder = Self { buffers: Vec::new(), params: Vec::new(), recording: Recording::default() };
        builder.add("steps", u64::from(step_rows * STEP_STRIDE_BYTES), true, BufferContents::Zeros);
        builder.add("parameters", 0, true, BufferContents::Zeros);
        builder
    }

    fn add(&mut self, name: &'static str, bytes: u64, uniform: bool, contents: BufferContents) -> BufferRange {
        let buffer = self.buffers.len();
        self.buffers.push(BufferPlan { name, bytes, uniform, contents });
        BufferRange { buffer, offset_bytes: 0, bytes }
    }

    pub(crate) fn zeros(&mut self, name: &'static str, bytes: u64) -> BufferRange {
        self.add(name, bytes, false, BufferContents::Zeros)
    }

    /// Adds a storage buffer of `elements` four-byte values.
    pub(crate) fn floats(&mut self, name: &'static str, elements: u64) -> BufferRange {
        self.zeros(name, 4 * elements)
    }

    /// Adds a storage buffer initialized with part of the job, rounded up to whole words.
    pub(crate) fn part(&mut self, name: &'static str, bytes: u64, part: JobPart) -> BufferRange {
        self.add(name, bytes.next_multiple_of(4), false, BufferContents::Job(part))
    }

    pub(crate) fn filled(&mut self, name: &'static str, bytes: Vec<u8>) -> BufferRange {
        self.add(name, bytes.len() as u64, false, BufferContents::Bytes(bytes))
    }

    pub(crate) fn dispatch<P: Pod>(&mut self, kernel: &str, params: &P, bindings: &[BufferRange], invocations: u64) {
        self.launch(kernel, bytemuck::bytes_of(params), bindings, invocations, None);
    }

    pub(crate) fn product(&mut self, variant: &Variant, product: &Product, bindings: &[BufferRange]) {
        self.launch(variant.kernel, product.params.bytes(), bindings, variant.invocations(product), Some(*product));
    }

    fn launch(
        &mut self,
        kernel: &str,
        params: &[u8],
        bindings: &[BufferRange],
        invocations: u64,
        product: Option<Product>,
    ) {
        let kernel = shaders::kernel(kernel).expect("the name of a registered kernel");
        debug_assert_eq!(kernel.params_bytes, params.len(), "{}", kernel.name);
        debug_assert_eq!(kernel.storage.len(), bindings.len(), "{}", kernel.name);
        let epilogue = kernel.epilogue_offset.map(|start| {
            let bytes = &params[start..start + size_of::<Epilogue>()];
            bytemuck::pod_read_unaligned(bytes)
        });
        let params_offset_bytes = self.params.len() as u64;
        self.params.extend(params);
        let stride = usize::try_from(PARAMS_STRIDE_BYTES).expect("a small number");
        self.params.resize(self.params.len().next_multiple_of(stride), 0);
        self.recording.dispatches.push(Dispatch {
            kernel,
            product,
            epilogue,
            params_offset_bytes,
            bindings: bindings.to_vec(),
            workgroups: workgroups(invocations, kernel.workgroup_size),
            operations: product.map_or(OPERATIONS_PER_INVOCATION * invocations, |product| product.flops()),
        });
    }

    /// Records that all devices wait here until the combined contents of `read` are in `write`.
    pub(crate) fn exchange(&mut self, read: BufferRange, write: BufferRange, combination: Combination) {
        let after = self.recording.dispatches.len();
        self.recording.exchanges.push(Exchange { after, until: after, staging: 0, read, write, combination });
    }

    /// Records a sum of arena parts over all devices, which meanwhile compute everything before this point. Each part
    /// comes with the number of launches after which it is complete.
    pub(crate) fn exchange_parts(&mut self, parts: &[(BufferRange, usize)]) {
        let until = self.recording.dispatches.len();
        let mut staging = 0;
        for &(range, after) in parts {
            // Exchanges that devices do not wait for run concurrently, each with a separate buffer.
            staging += usize::from(after < until);
            let staging = if after < until { staging } else { 0 };
            let combination = Combination::Sum;
            self.recording.exchanges.push(Exchange { after, until, staging, read: range, write: range, combination });
        }
        self.recording.exchanges.sort_by_key(|exchange| exchange.after);
    }

    pub(crate) fn dispatches(&self) -> &[Dispatch] {
        &self.recording.dispatches
    }

    pub(crate) fn take_recording(&mut self) -> Recording {
        std::mem::take(&mut self.recording)
    }

    pub(crate) fn finish(mut self) -> Vec<BufferPlan> {
        self.buffers[PARAMS].bytes = self.params.len() as u64;
        self.buffers[PARAMS].contents = BufferContents::Bytes(self.params);
        self.buffers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_workgroups_spread_over_two_dimensions() {
        assert_eq!(workgroups(1, 64), [1, 1]);
        assert_eq!(workgroups(65, 64), [2, 1]);
        let [x, y] = workgroups(64 * 100_000, 64);
        assert!(x <= MAX_DIMENSION && u64::from(x) * u64::from(y) >= 100_000, "{x} × {y}");
    }
}
