### Vergleich von Backends auf diesem Gerät.

## Die Tabelle

compare_column_memory = Gerätespeicher
compare_column_start = Start, einmalig
compare_projected = aus dem Durchsatz
compare_faster = { $fastest } ist hier { $times }-mal so schnell wie { $next }.
compare_equal = Kein klarer Sieger: Die Intervalle von { $fastest } und { $next } überlappen sich.
compare_too_short = Zu kurz, um einen Unterschied zu messen. Länger trainieren.

## Die Seite

compare_below = Der Vergleich steht unten.
compare_title = Frameworks vergleichen
compare_lead = Sie trainieren nacheinander dieselben Netze aus denselben Gewichten mit denselben Beispielen. Jedes muss
    vor der Messung dieselbe Prüfung bestehen. Die Genauigkeiten sollten übereinstimmen, die Zeiten dürfen sich
    unterscheiden.
compare_asking = Der Browser wird nach der GPU gefragt …
compare_no_gpu = { $why } Backends ohne WebGPU lassen sich vergleichen.
compare_gpu_software = GPU: { $name }. Das ist ein langsamer Software-Adapter auf dem Prozessor; Frameworks brauchen
    womöglich Minuten.
compare_needs_webgpu = braucht WebGPU
compare_choose_two = Mindestens zwei Backends wählen.
compare_note = { $contenders } Backends trainieren nacheinander: je { $length }, { $seeds }. Das Ergebnis bleibt auf
    dieser Seite.
compare_what = Verglichene Backends
compare_seeds = Seeds, jeder für alle Backends
compare_comparison = Vergleich
compare_explanation = × hinter einem Durchsatz ist das Verhältnis zum schnellsten, mit 95-%-Intervall. „Gleichauf“
    heißt: höchstens ein Zehntel Abstand zum schnellsten. „Offen“ heißt: Es braucht mehr Fenster oder Seeds. × hinter
    einer Zeit ist das Verhältnis zur kürzesten. Der Start umfasst Aufbauen, Übersetzen, Auswahl der Kernel und den
    ersten Schritt; das geschieht nur einmal.
compare_copy_link = Link kopieren
compare_explanation_seeds = Seeds: { $seeds }. Zeiten sind Mediane über die Seeds, Genauigkeiten Mittelwerte.
