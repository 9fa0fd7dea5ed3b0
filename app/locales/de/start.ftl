### Die Startseite.

start_page_title = Gradmark – wie schnell lernt diese GPU?
start_title = Wie schnell lernt diese GPU?
start_lead = Ein Klick trainiert echte neuronale Netze mit echten Daten auf der eigenen GPU, in diesem Tab – und
    zeigt, wie schnell und wie gut sie lernen.
start_cancelled = Abgebrochen. Nichts wurde behalten und nichts hochgeladen.
start_benchmark = Benchmark starten
start_battery = Dieses Gerät läuft im Akkubetrieb, in dem viele langsamer sind. Wenn möglich, erst ans Netz
    anschließen; sonst steht es beim Ergebnis.
start_asking = Der Browser wird gefragt …
start_not_available = Für diese Seite nicht verfügbar
start_device = Dieses Gerät
start_gpu = GPU
start_software = Das ist ein Software-Adapter: Der Prozessor gibt sich als GPU aus. Er trainiert richtig, aber
    langsam, und das Ergebnis wird angezeigt, aber nicht gewertet.
start_software_question = In diesem Rechner steckt eine GPU?
start_no_webgpu = WebGPU fehlt
start_using = Verwendet wird { $browser }. { $why }
start_demonstrate = Auf dem Prozessor vorführen
start_demonstration = Trainiert dasselbe Netz einige Sekunden lang mit einfachen Schleifen auf einem Prozessorkern.
    Das ist kein Benchmark und wird nicht hochgeladen.
start_claim = Welche GPU ist es? (falls bekannt)
start_claim_example = etwa GeForce RTX 4070
start_pressed = Andere Tabs oder Programme nutzen den Prozessor. Was nicht gebraucht wird, vorher schließen; sonst ist
    das Ergebnis womöglich langsamer als dieses Gerät.
start_integrated_question = Gibt es in diesem Rechner eine schnellere GPU?
start_integrated = Der Browser bietet die GPU an, die Teil des Prozessors ist. Wo es auch eine Grafikkarte gibt, kann
    er diese nehmen:
