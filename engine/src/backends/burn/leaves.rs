use burn_tensor::{Gradients, Tensor};

/// The tensors of a model as the layers of one pass read them. In training, those that are trained start the graph
/// that Burn differentiates.
pub(super) struct Leaves<'a> {
    /// All tensors of the model, flat.
    tensors: &'a [Tensor<1>],
    /// Which of them are trained in this pass; none where the list is empty.
    trained: &'a [bool],
    /// Those that were read and are trained.
    read: Vec<(usize, Leaf)>,
}

enum Leaf {
    Vector(Tensor<1>),
    Matrix(Tensor<2>),
    Kernel(Tensor<4>),
}

impl<'a> Leaves<'a> {
    pub(super) fn new(tensors: &'a [Tensor<1>], trained: &'a [bool]) -> Self {
        Self { tensors, trained, read: Vec::new() }
    }

    pub(super) fn vector(&mut self, tensor: usize) -> Tensor<1> {
        let flat = self.tensors[tensor].clone();
        self.leaf(tensor, flat, Leaf::Vector)
    }

    pub(super) fn matrix(&mut self, tensor: usize, sides: [usize; 2]) -> Tensor<2> {
        let flat = self.tensors[tensor].clone();
        self.leaf(tensor, flat.reshape(sides), Leaf::Matrix)
    }

    pub(super) fn kernel(&mut self, tensor: usize, sides: [usize; 4]) -> Tensor<4> {
        let flat = self.tensors[tensor].clone();
        self.leaf(tensor, flat.reshape(sides), Leaf::Kernel)
    }

    /// The tensor itself, whatever is trained.
    pub(super) fn plain(&self, tensor: usize) -> Tensor<1> {
        self.tensors[tensor].clone()
    }

    fn leaf<const D: usize>(&mut self, tensor: usize, value: Tensor<D>, keep: fn(Tensor<D>) -> Leaf) -> Tensor<D> {
        if self.trained.get(tensor) != Some(&true) {
            return value;
        }
        let leaf = value.autodiff().require_grad();
        self.read.push((tensor, keep(leaf.clone())));
        leaf
    }

    /// Those that were read and are trained.
    pub(super) fn into_read(self) -> ReadLeaves {
        ReadLeaves(self.read)
    }
}

/// The leaves of a graph that are tensors of the model.
pub(super) struct ReadLeaves(Vec<(usize, Leaf)>);

impl ReadLeaves {
    /// Adds the flat gradients of tensors to those that other graphs found, by the tensors' places in the model's list.
    /// `None` stays for those that are not trained.
    pub(super) fn add_gradients(self, gradients: &mut Gradients, found: &mut [Option<Tensor<1>>]) {
        for (tensor, leaf) in self.0 {
            // Layers that share a tensor have a leaf each.
            if let Some(gradient) = leaf.gradient(gradients) {
                add_gradient(found, tensor, gradient);
            }
        }
    }
}

/// Adds to the gradient of a tensor what one more of the places has found at which it is read.
pub(super) fn add_gradient(found: &mut [Option<Tensor<1>>], tensor: usize, gradient: Tensor<1>) {
    found[tensor] = Some(match found[tensor].take() {
        Some(others) => others + gradient,
        None => gradient,
    });
}

impl Leaf {
    fn gradient(self, gradients: &mut Gradients) -> Option<Tensor<1>> {
        match self {
            Self::Vector(leaf) => leaf.grad_remove(gradients),
            Self::Matrix(leaf) => leaf.grad_remove(gradients).map(|gradient| gradient.flatten(0, 1)),
            Self::Kernel(leaf) => leaf.grad_remove(gradients).map(|gradient| gradient.flatten(0, 3)),
        }
    }
}
