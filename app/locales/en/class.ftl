### What the images of CIFAR-10 show.

class_cifar10 = airplane, automobile, bird, cat, deer, dog, frog, horse, ship, truck
