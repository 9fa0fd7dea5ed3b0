### Backends nebeneinander auf diesem Gerät.

## Die Tabelle

compare_column_testing = Test
compare_column_memory = Gerätespeicher
compare_column_start = Start, einmalig
compare_projected = aus dem Durchsatz
compare_cancelled = Abgebrochen.
compare_diverged = Der Verlust wurde bei Schritt { $step } unendlich oder tausendmal so groß wie der erste.
compare_incorrect = Hat etwas anderes berechnet als die Referenz, deshalb wurde nichts gemessen.
compare_incorrect_at = Hat etwas anderes berechnet als die Referenz ({ $what }), deshalb wurde nichts gemessen.

## Die Seite

compare_turn = { $backend } ({ $number } von { $count }): { $status }
compare_cancelled_in_part = Abgebrochen. Was fertig war, steht unten im Vergleich.
compare_below = Der Vergleich steht unten.
compare_page_title = Frameworks vergleichen
compare_title = Wie unterscheiden sich Frameworks auf diesem Gerät?
compare_lead = Alle trainieren nacheinander dieselben Netze aus denselben Gewichten mit denselben Beispielen und
    bestehen vor der Messung dieselbe Prüfung. Was sie lernen, sollte übereinstimmen; wie lange es dauert, muss es
    nicht.
compare_asking = Der Browser wird nach der GPU gefragt …
compare_no_gpu = { $why } Backends ohne WebGPU lassen sich vergleichen.
compare_gpu = Die GPU: { $name }.
compare_gpu_software = Die GPU: { $name }. Das ist ein Programm auf dem Prozessor und langsam; Frameworks brauchen
    womöglich Minuten.
compare_needs_webgpu = braucht WebGPU
compare_choose_two = Mindestens zwei Backends wählen.
compare_note = { $contenders } Backends trainieren abwechselnd, { $length }. Alles bleibt auf dieser Seite.
compare_note_seeds = { $contenders } Backends trainieren abwechselnd mit jedem von { $seeds } Seeds, { $length }.
    Alles bleibt auf dieser Seite.
compare_as_settings = so lange, wie die Einstellungen es sagen
compare_one_pass = je einen Durchgang durch die Daten
compare_what = Was verglichen wird
compare_seeds = Seeds, jeder für alle
compare_comparison = Vergleich
compare_of_workload = Vergleich: { $workload }
compare_explanation = × bei einem Durchsatz ist das Verhältnis zum schnellsten, mit dem Bereich, in dem es in 95 von
    hundert Fällen liegt; „gleichauf“ heißt bis auf ein Zehntel so schnell wie der schnellste, „offen“, dass erst
    mehr Fenster oder Seeds das entscheiden. × bei einer Zeit sagt, wie oft die schnellste hineinpasst. Start ist Aufbauen, Übersetzen, Auswählen der Kernel und der
    erste Schritt; das geschieht einmal.
compare_explanation_seed = Seed { $seed } für alle. { $what }
compare_explanation_seeds = Seeds { $seeds } für alle; Zeiten sind Mediane darüber, Genauigkeiten Mittelwerte.
    { $what }
compare_fetched = { $backend }. { $arrival }
compare_link_copied = Kopiert. Der Link vergleicht dasselbe mit denselben Seeds auf jedem Gerät, das ihn öffnet.
compare_link_not_copied = Nicht kopiert: { $reason }. Der Link ist { $link }
compare_copy_link = Link kopieren
compare_as_json = Als JSON herunterladen
compare_as_csv = Als CSV herunterladen
compare_verdict = { $verdict }.
