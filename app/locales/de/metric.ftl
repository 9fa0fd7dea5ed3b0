### Messwerte eines Netzes. Auf Englisch stehen sie hier wie in der Crate `results`.

metric_samples_per_second = Durchsatz
metric_samples_per_second_description = Trainingsbeispiele pro Sekunde: Median der Fenster von mindestens einer
    Sekunde nach dem Warmlaufen.
metric_accuracy = Testgenauigkeit
metric_accuracy_description = Anteil der richtigen Antworten des trainierten Netzes auf den Testdaten.
metric_test_loss = Testverlust
metric_test_loss_description = Mittlere Kreuzentropie der Antworten des trainierten Netzes auf den Testdaten; weniger
    ist besser.
metric_seconds_to_target = Zeit bis zum Ziel
metric_seconds_to_target_description = Sekunden Training ohne Tests, bis die Zielgenauigkeit oder der Zielverlust des
    Netzes erstmals erreicht war.
metric_seconds_per_epoch = Zeit pro Epoche
metric_seconds_per_epoch_description = Sekunden Training für einen Durchgang durch die Trainingsdaten, Median über
    die fertigen Epochen.
metric_step_seconds_p50 = Schrittzeit, Median
metric_step_seconds_p50_description = Sekunden pro Trainingsschritt, Median über die gewerteten Fenster.
metric_step_seconds_p95 = Schrittzeit, 95. Perzentil der Fenster
metric_step_seconds_p95_description = Sekunden pro Trainingsschritt: In 95 % der gewerteten Fenster ist der
    Mittelwert niedriger.
metric_training_seconds = Gemessenes Training
metric_training_seconds_description = Das gesamte gemessene Training dieses Laufs, auch das nur zum Messen, ohne
    Tests.
metric_testing_seconds = Testzeit
metric_testing_seconds_description = Sekunden des letzten Durchgangs durch die Testdaten.
metric_flops_per_second = Rechenleistung
metric_flops_per_second_description = Gleitkommaoperationen pro Sekunde, die das Netz braucht, aus seinen Formen
    gezählt.
metric_share_of_peak = Anteil an der Spitzenleistung
metric_share_of_peak_description = Rechenleistung als Anteil der Spitzenleistung des Geräts, die gleich danach nur
    mit Multiplikationen und Additionen gemessen wird.
metric_sustained_ratio = Dauerleistung
metric_sustained_ratio_description = Langsamstes geteilt durch schnellstes gewertetes Fenster; ab 97 % gilt die
    Leistung als durchgehalten.
metric_joules_per_epoch = Energie pro Epoche
metric_joules_per_epoch_description = Energie, die das Gerät im gemessenen Training für so viele Beispiele
    verbraucht hat, wie die Trainingsdaten enthalten.
metric_joules_per_sample = Energie pro Beispiel
metric_joules_per_sample_description = Energie, die das Gerät im gemessenen Training je Beispiel verbraucht hat.
metric_samples_per_joule = Durchsatz pro Watt
metric_samples_per_joule_description = Trainingsbeispiele pro Sekunde für jedes verbrauchte Watt, also Beispiele pro
    Joule.
