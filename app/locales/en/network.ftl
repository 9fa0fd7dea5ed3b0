### Networks and suites. In English they are as the engine has them.

network_keras_mnist_mlp = MNIST, multilayer perceptron (Keras)
network_keras_mnist_cnn = MNIST, convolutional network (Keras)
network_keras_cifar10_cnn = CIFAR-10, convolutional network (Keras)
network_keras_mnist_hrnn = MNIST, hierarchical recurrent network (Keras)
network_keras_babi_rnn = bAbI task 2, recurrent network (Keras)
network_keras_babi_memnn = bAbI task 1, memory network (Keras)
network_memn2n_babi = bAbI task 1, end-to-end memory network
network_tensorflow_mnist = MNIST, deep tutorial (TensorFlow)
network_tensorflow_cifar10 = CIFAR-10, tutorial (TensorFlow)
network_caffe_mnist = MNIST, LeNet (Caffe)
network_caffe_cifar10 = CIFAR-10, quick network (Caffe)
network_torch_mnist = MNIST, digit classifier (Torch)
network_torch_cifar10 = CIFAR-10, demonstration (Torch)
network_theano_mnist = MNIST, LeNet (Theano)
network_theano_cifar10 = CIFAR-10, small network in colour (Theano)
network_resnet20_cifar10 = CIFAR-10, residual network of 20 layers
network_transformer_cifar10 = CIFAR-10, small transformer
network_airbench94 = CIFAR-10 to 94 % (airbench94)
network_resnet50_synthetic = ImageNet's size, residual network of 50 layers
network_inception_v3_synthetic = ImageNet's size, Inception-v3
network_gpt_nano = Moby Dick, smallest language model
network_gpt_small = Moby Dick, small language model

## Suites

network_suite_quick = Quick
network_suite_complete = Complete
network_suite_language = Language
network_suite_speedrun = Speedrun
network_suite_quick_description = Two classic MNIST networks, two epochs each or half a minute of training,
    whichever is shorter.
network_suite_complete_description = Every network, from perceptrons to a transformer, one epoch each or half a
    minute of training, whichever is shorter.
network_suite_language_description = Two language models on the characters of a novel, ten epochs each or ten minutes of
    training, whichever is shorter.
network_suite_speedrun_description = The smallest language model, ten epochs or ten minutes of training, whichever is
    shorter.
network_suite_sentence = The { $suite } suite
network_suite_version = { $suite } suite, version { $version }
