use super::{Layer, Model, Node, Shape, Source};

/// Puts a network together, front to back.
#[derive(Clone, Debug)]
pub struct ModelBuilder {
    model: Model,
    last: Source,
}

impl ModelBuilder {
    pub fn new(name: &'static str, input: Shape) -> Self {
        Self { model: Model { name, input, nodes: Vec::new() }, last: Source::Data }
    }

    /// What the last layer made.
    pub fn last(&self) -> Source {
        self.last
    }

    /// Adds a layer that reads the last one.
    pub fn then(&mut self, layer: Layer) -> Source {
        self.after(self.last, layer)
    }

    /// Adds a layer that reads `source`.
    pub fn after(&mut self, source: Source, layer: Layer) -> Source {
        self.reads(vec![source], layer)
    }

    /// Adds a layer that reads several sources.
    pub fn reads(&mut self, inputs: Vec<Source>, layer: Layer) -> Source {
        self.model.nodes.push(Node { layer, inputs, shares: None });
        self.last = Source::Node(self.model.nodes.len() - 1);
        self.last
    }

    /// Adds a layer that reads `source`, with the tensor of the layer that made `owner` instead of its own.
    ///
    /// # Panics
    /// The data has no tensor.
    pub fn sharing(&mut self, owner: Source, source: Source, layer: Layer) -> Source {
        let Source::Node(owner) = owner else { panic!("the data has no tensor") };
        self.model.nodes.push(Node { layer, inputs: vec![source], shares: Some(owner) });
        self.last = Source::Node(self.model.nodes.len() - 1);
        self.last
    }

    pub fn finish(self) -> Model {
        self.model
    }
}
