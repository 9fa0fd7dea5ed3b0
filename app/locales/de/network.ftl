### Netze und Suiten. Auf Englisch stehen sie hier wie im Kern.

network_keras_mnist_mlp = MNIST, mehrschichtiges Perzeptron (Keras)
network_keras_mnist_cnn = MNIST, Faltungsnetz (Keras)
network_keras_cifar10_cnn = CIFAR-10, Faltungsnetz (Keras)
network_keras_mnist_hrnn = MNIST, hierarchisches rekurrentes Netz (Keras)
network_keras_babi_rnn = bAbI-Aufgabe 2, rekurrentes Netz (Keras)
network_keras_babi_memnn = bAbI-Aufgabe 1, Gedächtnisnetz (Keras)
network_memn2n_babi = bAbI-Aufgabe 1, durchgängig trainiertes Gedächtnisnetz
network_tensorflow_mnist = MNIST, Tutorial „Deep“ (TensorFlow)
network_tensorflow_cifar10 = CIFAR-10, Tutorial (TensorFlow)
network_caffe_mnist = MNIST, LeNet (Caffe)
network_caffe_cifar10 = CIFAR-10, schnelles Netz (Caffe)
network_torch_mnist = MNIST, Ziffern erkennen (Torch)
network_torch_cifar10 = CIFAR-10, Demonstration (Torch)
network_theano_mnist = MNIST, LeNet (Theano)
network_theano_cifar10 = CIFAR-10, kleines Netz in Farbe (Theano)
network_resnet20_cifar10 = CIFAR-10, Residualnetz mit 20 Schichten
network_transformer_cifar10 = CIFAR-10, kleiner Transformer
network_airbench94 = CIFAR-10 bis 94 % (airbench94)
network_resnet50_synthetic = ImageNet-Größe, Residualnetz mit 50 Schichten
network_inception_v3_synthetic = ImageNet-Größe, Inception-v3
network_gpt_nano = Moby Dick, kleinstes Sprachmodell
network_gpt_small = Moby Dick, kleines Sprachmodell

## Suiten

network_suite_quick = Schnell
network_suite_complete = Vollständig
network_suite_language = Sprache
network_suite_speedrun = Speedrun
network_suite_quick_description = Zwei klassische MNIST-Netze, je zwei Epochen oder eine halbe Minute Training, je
    nachdem, was kürzer ist.
network_suite_complete_description = Alle Netze vom Perzeptron bis zum Transformer, je eine Epoche oder eine halbe
    Minute Training, je nachdem, was kürzer ist.
network_suite_language_description = Zwei Sprachmodelle auf den Buchstaben eines Romans, je zehn Epochen oder zehn Minuten
    Training, je nachdem, was kürzer ist.
network_suite_speedrun_description = Das kleinste Sprachmodell, zehn Epochen oder zehn Minuten Training, je nachdem, was
    kürzer ist.
network_suite_sentence = Die Suite „{ $suite }“
network_suite_version = Suite „{ $suite }“, Version { $version }
