### Was die Bilder von CIFAR-10 zeigen.

class_airplane = Flugzeug
class_automobile = Auto
class_bird = Vogel
class_cat = Katze
class_deer = Hirsch
class_dog = Hund
class_frog = Frosch
class_horse = Pferd
class_ship = Schiff
class_truck = Lastwagen
