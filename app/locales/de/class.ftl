### Was die Bilder von CIFAR-10 zeigen.

class_cifar10 = Flugzeug, Auto, Vogel, Katze, Hirsch, Hund, Frosch, Pferd, Schiff, Lastwagen
