### Ein Lauf, der gerade läuft.

running_loading = { $what } wird geladen
running_starting_worker = Der Trainings-Worker wird gestartet
running_status = Netz { $number } von { $count }: { $phase }
running_phase_starting = Start
running_phase_loading = Daten laden
running_phase_building = Kernel übersetzen
running_phase_checking = Ergebnisse prüfen
running_phase_warming_up = Warmlaufen
running_phase_testing = Test
running_phase_measuring = Messung
running_phase_proving = Lauf belegen
running_phase_paused = wartet, weil dieser Tab verdeckt ist

## Warum ein Lauf ohne Ergebnis endete

running_another_tab = In einem anderen Tab dieses Browsers läuft ein Training, und zwei gleichzeitig messen sich
    gegenseitig. Das andere beenden lassen oder schließen und dann noch einmal starten.
running_not_opened = Der Trainings-Worker ließ sich nicht starten: { $reason }.
running_not_started = Der Trainings-Worker ist nicht gestartet. Die Seite neu laden und noch einmal versuchen.
running_not_loaded = Der Trainings-Worker ließ sich nicht laden: { $reason }. Die Verbindung prüfen und den
    Benchmark noch einmal starten.
running_failed = Der Benchmark ist fehlgeschlagen: { $reason }.
running_failed_in_part = Der Benchmark ist fehlgeschlagen: { $reason }. Was vorher fertig war, steht unten.
running_crashed = Der Trainings-Worker hat aufgehört zu arbeiten: { $reason }. Die Seite neu laden und noch einmal
    versuchen; passiert es wieder, bitte melden.

## Wie er gezeichnet wird

running_getting_ready = Vorbereitung
running_left = noch etwa { $time }
running_region = Laufender Benchmark
running_progress = Fortschritt des Benchmarks
running_loss = Verlust
running_training_accuracy = Trainingsgenauigkeit
running_step = Schritt
running_epochs = Durchgänge durch die Daten
running_examples = Testbilder und die Antworten des Netzes
running_example_right = { $label }, richtig beantwortet
running_example_wrong = { $label }, falsch beantwortet: { $answer }
running_published_curve = Gestrichelt: Trainingsgenauigkeit, wie { $framework } auf { $device } gelernt hat,
    Durchgang für Durchgang ({ $citation }).
running_published_end = Gestrichelt: { $accuracy } nach { $epochs } Durchgängen, wie { $framework } die Testdaten
    erkannt hat, trainiert auf { $device } ({ $citation }).
