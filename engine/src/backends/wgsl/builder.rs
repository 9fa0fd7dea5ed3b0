use bytemuck::Pod;

use super::products::Product;
use super::recording::{
    BufferContents, BufferPlan, BufferRange, Combination, Dispatch, Exchange, JobPart, PARAMS, PARAMS_STRIDE_BYTES,
    Recording, STEP_STRIDE_BYTES, workgroups,
};
use super::variants::Variant;

/// Operations per invocation of a kernel that is not a product and does little work on a few values.
const OPERATIONS_PER_INVOCATION: u64 = 64;

/// Collects buffers, parameter blocks and launches. The first two hold the step table and the parameter blocks.
pub(crate) struct Builder {
    buffers: Vec<BufferPlan>,
    params: Vec<u8>,
    recording: Recording,
}

impl Builder {
    /// Creates a builder with a step table of `step_rows` rows.
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

    /// Records a product with this kernel variant.
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
        let params_offset_bytes = self.params.len() as u64;
        self.params.extend(params);
        let stride = usize::try_from(PARAMS_STRIDE_BYTES).expect("a small number");
        self.params.resize(self.params.len().next_multiple_of(stride), 0);
        self.recording.dispatches.push(Dispatch {
            kernel,
            product,
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
