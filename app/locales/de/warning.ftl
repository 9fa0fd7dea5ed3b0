### Was an einem Lauf nicht ideal war. Auf Englisch steht es hier wie in der Crate `results`. Hinter | steht ein Rat, den
### nur liest, wer den Lauf gemacht hat.

warning_this_adapter = Dieser Adapter
warning_software_adapter = { $name } ist ein Software-Adapter: Gerechnet hat der Prozessor. Das Ergebnis wird
    angezeigt, aber nie gewertet. | Um eine GPU zu messen, einen GPU-Treiber installieren oder die
    Hardwarebeschleunigung einschalten.
warning_perhaps_software = Der Browser verrät nicht, was für ein Adapter das ist, und dieser multipliziert nicht
    schneller als ein Prozessor: { $gigaflops } GFLOP/s bei { $processors } logischen Prozessoren. Er lässt sich
    also nicht von einem Programm unterscheiden, und das Ergebnis wird angezeigt, aber nicht gewertet. | Ist eine
    GPU vorhanden, hilft ein Browser, der den Hersteller nennt (Chrome, Edge), oder native-runner; sollte sie
    schneller sein, die Hardwarebeschleunigung einschalten oder den Treiber aktualisieren.
warning_not_stabilised = { $workload }: Wiederholte Fenster wichen noch voneinander ab (±{ $half_width } %), deshalb
    wird dieses Ergebnis nicht gewertet. | Andere Programme schließen, das Gerät abkühlen lassen und noch einmal
    starten.
warning_too_few_windows = { $workload }: Ausreichend lange Fenster: { $windows }; mit weniger als fünf wird ein
    Ergebnis nicht gewertet. | Länger trainieren.
warning_not_learned = { $workload }: { $accuracy } der Testdaten wurden richtig eingeordnet, nicht mehr als beim Raten
    der häufigsten Klasse ({ $chance }); deshalb wird dieses Ergebnis nicht
    gewertet. | Länger oder mit kleinerer Lernrate trainieren.
warning_checkpoint_missed = { $workload }: Der Server konnte dem Lauf nicht folgen ({ $reason }); deshalb wird er
    weder belegt noch gewertet. | Ist die Verbindung abgebrochen, bei stabiler Verbindung noch einmal starten.
warning_stopped_by_budget = { $workload }: Das Zeitbudget von { $budget } s hat das Training vorzeitig beendet, die
    Genauigkeit ist also die eines kürzeren Laufs. | Mit einer festen Zahl von Epochen wird bis zum Ende trainiert.
warning_tab_hidden = Die Seite war { $seconds } s lang verdeckt, und verdeckte Seiten werden von Browsern gebremst.
    | Den Tab im Vordergrund lassen und noch einmal starten.
warning_tab_paused = Die Seite war { $seconds } s lang verdeckt, und der Lauf hat { $paused } s lang gewartet, in
    denen das Gerät abgekühlt ist. | Den Tab im Vordergrund lassen und noch einmal starten.
warning_coarse_timer = Die Uhr dieses Browsers läuft in Schritten von { $milliseconds } ms, kurze Zeiten sind daher
    ungenau.
warning_untuned = { $backend }: Das rechnende Programm enthält Burn ohne Fusion und Autotune, deshalb ist Burn
    langsamer, als es auf diesem Gerät sein kann. | Das Programm auch mit `burn-tuned` bauen: `--features
    burn-wgpu,burn-tuned`.
warning_tuning_not_settled = { $workload }: Nach { $steps } Schritten, in denen zwischen Kerneln gewählt wurde, war
    die Schrittzeit noch nicht stabil; die ersten Fenster enthalten womöglich etwas davon. | Andere Programme
    schließen und noch einmal starten.
warning_no_wake_lock = Der Browser hat den Bildschirm nicht angelassen. | Den Bildschirm ab und zu berühren oder das
    Gerät ans Netz anschließen.
warning_on_battery = Dieses Gerät lief im Akkubetrieb, in dem viele langsamer sind. | Ans Netz anschließen und noch
    einmal starten.
warning_processor_pressed = Der Prozessor war während { $percent } % des Laufs stark belastet oder heiß, vielleicht
    durch andere Programme oder Tabs. | Diese schließen, das Gerät abkühlen lassen und noch einmal starten.
warning_not_isolated = Die Seite ist nicht „cross-origin isolated“, deshalb ist die Uhr grob. | Die Seite von einem
    Server öffnen, der die Header COOP und COEP sendet, etwa vom Server der Bestenliste selbst.
warning_unregistered = Für diesen Lauf kam kein Seed vom Server ({ $reason }), deshalb gilt er nach dem Hochladen
    als ungeprüft. | Noch einmal starten, wenn der Server erreichbar ist.
warning_stopped_early = { $workload }: Das Training endete, weil zurückgehaltene Beispiele nicht mehr besser
    eingeordnet wurden
warning_smaller_batch = { $workload }: Batches mit { $used } Beispielen, weil die vorgesehenen { $asked } Beispiele
    { $needed } MiB brauchen und nur { $allowed } MiB zu haben sind. Messwerte anderer Batchgrößen sind nicht
    vergleichbar. | Eine selbst gewählte Batchgröße wird entweder genau eingehalten oder abgelehnt.
warning_generated_data = { $workload }: Die Beispiele sind erzeugt und nicht die veröffentlichten, deshalb ist die
    Genauigkeit nicht mit veröffentlichten Werten vergleichbar, die Geschwindigkeit schon. | Veröffentlichte
    Geschichten liest native-runner aus dem Ordner, den --babi nennt.

## Gründe

warning_seed_by_hand = der Seed wurde von Hand gewählt
