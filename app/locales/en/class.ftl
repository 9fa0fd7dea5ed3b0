### What the images of CIFAR-10 show.

class_airplane = airplane
class_automobile = automobile
class_bird = bird
class_cat = cat
class_deer = deer
class_dog = dog
class_frog = frog
class_horse = horse
class_ship = ship
class_truck = truck
