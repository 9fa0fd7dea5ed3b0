### Was eine Bestenliste außer der Stufe von einem Lauf sagt.

note_perhaps_software = Der Browser verbirgt, was der Adapter ist, und er ist nicht schneller, als ein Prozessor sein
    kann: Nichts unterscheidet ihn von einem Programm, das eine GPU nachahmt. Deshalb wird der Lauf gezeigt und nicht
    gewertet. Mit einem Browser, der den Hersteller der GPU nennt, oder mit native-runner wird er gewertet.
note_seed_from_elsewhere = Der Seed kam nicht von dieser Bestenliste; deshalb zeigt nichts, wann der Lauf gemacht
    wurde.
note_computed_in_part = Dieser Lauf ließ sich nur zum Teil nachrechnen, weil seine Gewichte nicht aufbewahrt werden:
    Nichts, was sich fand, widerspricht ihm.
note_not_trained = { $workload } ließ sich auf diesem Gerät nicht trainieren und steht nicht in der Tabelle.
note_not_completed = { $workload } kam nicht bis zum Ende und steht nicht in der Tabelle.
note_not_computed = Dieser Lauf ließ sich nicht nachrechnen, aus welchem Grund auch immer.
note_not_provable = { $workload }: Netze, deren Bilder von Epoche zu Epoche wechseln, kann keine Bestenliste beweisen;
    deshalb wird dieses nicht gewertet.
note_other_flagged = Ein anderer Lauf dieses Absenders von diesem Tag wurde markiert.
note_moderated = Ein Moderator hat diesen Lauf markiert: { $reason }
note_moderated_without_reason = Ein Moderator hat diesen Lauf ohne Angabe eines Grundes markiert.
