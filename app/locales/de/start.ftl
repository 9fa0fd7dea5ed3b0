### Die Startseite.

start_page_title = Gradmark – wie schnell lernt diese GPU?
start_title = Wie schnell lernt diese GPU?
start_lead = Ein Klick trainiert echte neuronale Netze mit echten Daten auf der eigenen GPU, in diesem Tab – und
    zeigt, wie schnell und wie gut sie lernen.
start_cancelled = Abgebrochen. Nichts wurde gespeichert oder hochgeladen.
start_again = Noch einmal messen
start_benchmark = Benchmark starten
start_battery = Dieses Gerät läuft im Akkubetrieb und ist dadurch womöglich langsamer. Bitte erst das Netzteil
    anschließen, sonst steht beim Ergebnis ein Hinweis.
start_software = Das ist ein Software-Adapter: Der Prozessor ersetzt die GPU. Er trainiert richtig, aber langsam; das
    Ergebnis wird angezeigt, aber nicht gewertet.
start_compatibility = Hier bietet der Browser WebGPU nur im Kompatibilitätsmodus, mit niedrigeren Grenzen. Das Ergebnis
    wird wie das eines eigenen Geräts gewertet.
start_no_webgpu = WebGPU fehlt
start_demonstrate = Auf dem Prozessor vorführen
start_demonstration = Trainiert dasselbe Netz einige Sekunden lang mit einfachen Schleifen auf einem Prozessorkern.
    Das ist kein Benchmark und wird nicht hochgeladen.
start_claim = Welche GPU ist es, falls bekannt? (etwa GeForce RTX 4070)
start_pressed = Andere Tabs oder Programme nutzen den Prozessor. Was nicht gebraucht wird, vorher schließen, sonst ist
    das Ergebnis womöglich zu langsam.
start_integrated_question = Hat dieser Rechner eine schnellere GPU?
start_right = { $right } von { $all } richtig
start_sample = Beispiel: { $score } GFLOP/s auf { $device }
