### Was eine Bestenliste außer der Stufe von einem Lauf sagt.

note_perhaps_software = Der Browser verbirgt den Adapter, und dieser ist nicht schneller, als ein Prozessor sein kann: Er
    ist womöglich ein Software-Adapter. Deshalb wird der Lauf angezeigt, aber nicht gewertet. Mit einem Browser, der den
    Hersteller der GPU nennt, oder mit native-runner wird er gewertet.
note_seed_from_elsewhere = Der Seed kam nicht von dieser Bestenliste; deshalb ist nicht belegt, wann der Lauf
    stattfand.
note_computed_in_part = Dieser Lauf ließ sich nur zum Teil nachrechnen, weil seine Gewichte nicht gespeichert sind.
    Nichts widerspricht ihm.
note_not_trained = { $workload } ließ sich auf diesem Gerät nicht trainieren und steht nicht in der Tabelle.
note_not_completed = { $workload } wurde nicht abgeschlossen und steht nicht in der Tabelle.
note_not_computed = Dieser Lauf konnte nicht nachgerechnet werden.
note_not_provable = { $workload }: Netze, deren Bilder sich von Epoche zu Epoche abwechseln, kann eine Bestenliste nicht belegen;
    deshalb wird dieses nicht gewertet.
note_large_states = { $workload }: Netze mit so vielen Gewichten und Zuständen des Optimierers kann eine Bestenliste
    nicht belegen; deshalb wird dieses nicht gewertet.
note_other_flagged = Ein anderer Lauf dieses Absenders von diesem Tag wurde markiert.
note_moderated = Ein Moderator hat diesen Lauf markiert
