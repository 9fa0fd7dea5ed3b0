// The parameter block that `params::GradientLimit` describes.
struct Params {
    elements: u32,
    // Maximum joint norm of all gradients, multiplied by the device's gradient scale.
    limit: f32,
    // Workgroups that share the gradients.
    parts: u32,
    reserved: u32,
}
