use bytemuck::Pod;

use super::super::recording::{
    BufferContents, BufferPlan, BufferRange, Dispatch, PARAMS_STRIDE_BYTES, Recording, workgroups,
};
use super::super::tuning::Choices;
use super::super::variants::Product;

/// Collects buffers, parameter blocks and the recording that is being made.
#[derive(Default)]
pub(super) struct Builder {
    buffers: Vec<BufferPlan>,
    params: Vec<u8>,
    recording: Recording,
    products: Vec<Product>,
}

impl Builder {
    fn add(&mut self, name: &'static str, bytes: u64, uniform: bool, contents: BufferContents) -> BufferRange {
        let buffer = self.buffers.len();
        self.buffers.push(BufferPlan { name, bytes, uniform, contents });
        BufferRange { buffer, offset_bytes: 0, bytes }
    }

    /// A uniform buffer of zeros.
    pub(super) fn uniform(&mut self, name: &'static str, bytes: u64) -> usize {
        self.add(name, bytes, true, BufferContents::Zeros).buffer
    }

    /// A storage buffer of zeros.
    pub(super) fn zeros(&mut self, name: &'static str, bytes: u64) -> BufferRange {
        self.add(name, bytes, false, BufferContents::Zeros)
    }

    /// A storage buffer of `elements` values of four bytes.
    pub(super) fn floats(&mut self, name: &'static str, elements: u64) -> BufferRange {
        self.zeros(name, 4 * elements)
    }

    /// A storage buffer with contents, filled up to whole words.
    pub(super) fn bytes(&mut self, name: &'static str, contents: &[u8]) -> BufferRange {
        let mut contents = contents.to_vec();
        contents.resize(contents.len().next_multiple_of(4), 0);
        self.add(name, contents.len() as u64, false, BufferContents::Bytes(contents))
    }

    /// All of a buffer.
    pub(super) fn whole(&self, buffer: usize) -> BufferRange {
        BufferRange { buffer, offset_bytes: 0, bytes: self.buffers[buffer].bytes }
    }

    /// Records a launch of `kernel` with so many invocations.
    pub(super) fn dispatch<P: Pod>(&mut self, kernel: &str, params: &P, bindings: &[BufferRange], invocations: u64) {
        self.dispatch_with(kernel, &[], params, bindings, invocations);
    }

    /// Records a product, by the kernel that was chosen for it.
    pub(super) fn product(&mut self, choices: &Choices, product: Product, bindings: &[BufferRange]) {
        let variant = choices.pick(&product);
        let (constants, invocations) = (product.constants(), variant.invocations(&product));
        match product {
            Product::DenseForward(params)
            | Product::DenseInputGradient(params)
            | Product::DenseWeightGradient(params) => {
                self.dispatch_with(variant.kernel, &constants, &params, bindings, invocations);
            }
            Product::Conv2dForward(params)
            | Product::Conv2dInputGradient(params)
            | Product::Conv2dWeightGradient(params) => {
                self.dispatch_with(variant.kernel, &constants, &params, bindings, invocations);
            }
            Product::LstmForward(params) | Product::LstmBackward(params) => {
                self.dispatch_with(variant.kernel, &constants, &params, bindings, invocations);
            }
        }
        self.products.push(product);
    }

    /// All products so far.
    pub(super) fn products(&self) -> &[Product] {
        &self.products
    }

    /// Records a launch of `kernel`, compiled with these constants.
    pub(super) fn dispatch_with<P: Pod>(
        &mut self,
        kernel: &str,
        constants: &[(&'static str, f64)],
        params: &P,
        bindings: &[BufferRange],
        invocations: u64,
    ) {
        let kernel = shaders::kernel(kernel).expect("the name of a registered kernel");
        debug_assert_eq!(kernel.params_bytes, size_of::<P>(), "{}", kernel.name);
        debug_assert_eq!(kernel.storage.len(), bindings.len(), "{}", kernel.name);
        let params_offset_bytes = self.params.len() as u64;
        self.params.extend(bytemuck::bytes_of(params));
        let stride = usize::try_from(PARAMS_STRIDE_BYTES).expect("a small number");
        self.params.resize(self.params.len().next_multiple_of(stride), 0);
        self.recording.dispatches.push(Dispatch {
            kernel,
            constants: constants.to_vec(),
            params_offset_bytes,
            bindings: bindings.to_vec(),
            workgroups: workgroups(invocations, kernel.workgroup_size),
        });
    }

    pub(super) fn take_recording(&mut self) -> Recording {
        std::mem::take(&mut self.recording)
    }

    /// All buffers, and the place of the one with the parameter blocks.
    pub(super) fn finish(mut self) -> (Vec<BufferPlan>, usize) {
        let params = std::mem::take(&mut self.params);
        let bytes = params.len() as u64;
        let range = self.add("parameters", bytes, true, BufferContents::Bytes(params));
        (self.buffers, range.buffer)
    }
}
