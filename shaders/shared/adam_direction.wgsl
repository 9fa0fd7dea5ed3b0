// Needs optimizer_params.wgsl and the kernel's `params`, `mean` and `mean_square`.
// Updates both moving averages of quad `number` with the gradient and its square, and returns
// mean / (sqrt(mean_square) + epsilon). Kingma and Ba, "Adam", 2015, in its form with "epsilon hat":
// the learning rate includes the bias correction of the averages.
fn adam_direction(number: u32, gradient: vec4<f32>) -> vec4<f32> {
    let first = params.decay * mean[number] + (1.0 - params.decay) * gradient;
    let second = params.second_decay * mean_square[number] + (1.0 - params.second_decay) * gradient * gradient;
    mean[number] = first;
    mean_square[number] = second;
    return first / (sqrt(second) + params.epsilon);
}
