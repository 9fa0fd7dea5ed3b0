### Ein Lauf, der gerade läuft.

running_loading = { $what } wird geladen
running_status = Netz { $number } von { $count }: { $phase }
running_phase_loading = Daten laden
running_phase_building = Kernel übersetzen
running_phase_checking = Ergebnisse prüfen
running_phase_warming_up = Warmlaufen
running_phase_testing = Test mit { $samples } Beispielen
running_phase_measuring = Messung
running_phase_proving = Lauf belegen
running_phase_paused = pausiert, weil dieser Tab verdeckt ist

## Warum ein Lauf ohne Ergebnis endete

running_another_tab = In einem anderen Tab dieses Browsers läuft schon ein Training, und zwei zugleich stören
    einander. Warten, bis es fertig ist, oder den Tab schließen, dann noch einmal starten.
running_not_started = Der Trainings-Worker ist nicht gestartet. Bitte die Seite neu laden und es noch einmal versuchen.
running_not_loaded = Der Trainings-Worker konnte nicht geladen werden: { $reason }. Die Verbindung prüfen und den
    Benchmark noch einmal starten.
running_failed = Der Benchmark ist fehlgeschlagen: { $reason }.
running_crashed = Der Trainings-Worker ist abgestürzt: { $reason }. Bitte die Seite neu laden und es noch einmal
    versuchen; tritt das wieder auf, bitte melden.

## Wie er gezeichnet wird

running_getting_ready = Vorbereitung
running_left = noch etwa { $time }
running_progress = Fortschritt des Benchmarks
running_score = Gradmark bisher
running_loss = Verlust
running_step = Schritt
running_epochs = Epochen
running_examples = Testbilder und die Antworten des Netzes
running_example_right = { $label }, richtig beantwortet
running_example_wrong = { $label }, falsch beantwortet: { $answer }
running_texts = Was das Netz schreibt
running_published_curve = Gestrichelt: Trainingsgenauigkeit von { $framework } auf { $device }, Durchgang für Durchgang
    ({ $citation }).
running_published_end = Gestrichelt: Testgenauigkeit von { $accuracy } nach { $epochs } Durchgängen mit { $framework }
    auf { $device } ({ $citation }).
