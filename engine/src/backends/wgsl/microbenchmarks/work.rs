//! One thing to repeat, as data: buffers, what is launched once, and what is launched over and over.

use bytemuck::Pod;
use shaders::params::{Step, SumParts};

use super::super::plan::weight_gradient::sum_of_parts;
use super::super::products::Product;
use super::super::recording::{
    BufferContents, BufferPlan, BufferRange, Dispatch, PARAMS_STRIDE_BYTES, Recording, STEP_STRIDE_BYTES,
    operations_of, workgroups,
};
use super::super::variants::Variant;

/// Repetitions that fit into one submission.
pub(super) const SLOTS: u32 = 256;

/// Place of the step table in the list of buffers.
const STEPS: usize = 0;

pub(super) struct Work {
    pub(super) buffers: Vec<BufferPlan>,
    params: Vec<u8>,
    /// Launched once, before anything is timed.
    pub(super) preparation: Recording,
    pub(super) repeated: Recording,
    /// What the timed launches leave behind.
    pub(super) output: Option<BufferRange>,
}

impl Work {
    /// Nothing yet; all rows of a batch of `rows` hold samples.
    pub(super) fn new(rows: u32) -> Self {
        let step = Step { count: rows, training: 1, ..Step::default() };
        let mut row = bytemuck::bytes_of(&step).to_vec();
        row.resize(STEP_STRIDE_BYTES as usize, 0);
        let steps = BufferPlan {
            name: "steps",
            bytes: u64::from(SLOTS * STEP_STRIDE_BYTES),
            uniform: true,
            contents: BufferContents::Bytes(row.repeat(SLOTS as usize)),
        };
        Self {
            buffers: vec![steps],
            params: Vec::new(),
            preparation: Recording::default(),
            repeated: Recording::default(),
            output: None,
        }
    }

    /// A storage buffer of `elements` zeros of four bytes.
    pub(super) fn zeros(&mut self, name: &'static str, elements: u64) -> BufferRange {
        self.add(BufferPlan { name, bytes: 4 * elements, uniform: false, contents: BufferContents::Zeros })
    }

    /// A storage buffer with these numbers.
    pub(super) fn floats(&mut self, name: &'static str, numbers: &[f32]) -> BufferRange {
        let contents: Vec<u8> = bytemuck::cast_slice(numbers).to_vec();
        let bytes = contents.len() as u64;
        self.add(BufferPlan { name, bytes, uniform: false, contents: BufferContents::Bytes(contents) })
    }

    fn add(&mut self, plan: BufferPlan) -> BufferRange {
        let range = BufferRange { buffer: self.buffers.len(), offset_bytes: 0, bytes: plan.bytes };
        self.buffers.push(plan);
        range
    }

    /// Launches `kernel` in every repetition.
    pub(super) fn repeat<P: Pod>(&mut self, kernel: &str, params: &P, bindings: &[BufferRange], invocations: u64) {
        let dispatch = self.dispatch(kernel, params, bindings, invocations);
        self.repeated.dispatches.push(dispatch);
    }

    /// Launches a variant of `product` in every repetition.
    pub(super) fn repeat_variant<P: Pod>(
        &mut self,
        variant: &Variant,
        product: &Product,
        params: &P,
        bindings: &[BufferRange],
    ) {
        let invocations = variant.invocations(product);
        let dispatch = self.dispatch(variant.kernel, params, bindings, invocations);
        self.repeated.dispatches.push(Dispatch { constants: product.constants(), ..dispatch });
    }

    /// Adds up partial gradients in every repetition, where there are several; returns where the sum is.
    pub(super) fn sum(&mut self, partial: BufferRange, parts: u32, elements: u32, emulated: bool) -> BufferRange {
        if parts == 1 {
            return partial;
        }
        let sum = self.zeros("gradient", u64::from(elements));
        let params = SumParts { elements, parts, accumulate: 0, reserved: 0 };
        let (kernel, invocations) = sum_of_parts(&params, emulated);
        self.repeat(kernel, &params, &[partial, sum], invocations);
        sum
    }

    /// Launches `kernel` once, before all repetitions.
    pub(super) fn prepare<P: Pod>(&mut self, kernel: &str, params: &P, bindings: &[BufferRange], invocations: u64) {
        let dispatch = self.dispatch(kernel, params, bindings, invocations);
        self.preparation.dispatches.push(dispatch);
    }

    fn dispatch<P: Pod>(&mut self, kernel: &str, params: &P, bindings: &[BufferRange], invocations: u64) -> Dispatch {
        let kernel = shaders::kernel(kernel).expect("the name of a registered kernel");
        debug_assert_eq!(kernel.params_bytes, size_of::<P>(), "{}", kernel.name);
        debug_assert_eq!(kernel.storage.len(), bindings.len(), "{}", kernel.name);
        let params_offset_bytes = self.params.len() as u64;
        self.params.extend(bytemuck::bytes_of(params));
        let stride = usize::try_from(PARAMS_STRIDE_BYTES).expect("a small number");
        self.params.resize(self.params.len().next_multiple_of(stride), 0);
        Dispatch {
            kernel,
            constants: Vec::new(),
            params_offset_bytes,
            bindings: bindings.to_vec(),
            workgroups: workgroups(invocations, kernel.workgroup_size),
            operations: operations_of(invocations),
        }
    }

    /// Adds the buffer of parameter blocks; returns its place and that of the step table.
    pub(super) fn finish(&mut self) -> (usize, usize) {
        let params = std::mem::take(&mut self.params);
        let bytes = params.len() as u64;
        let contents = BufferContents::Bytes(params);
        let range = self.add(BufferPlan { name: "parameters", bytes, uniform: true, contents });
        (range.buffer, STEPS)
    }
}
