### Plätze der Geräte und einzelne Läufe.

leaderboard_not_shown = Das lässt sich nicht anzeigen: { $reason }.
leaderboard_figure_meaning = Median über die Einsender, jeder zählt einmal am Tag; im Intervall liegt die Hälfte der
    Werte
leaderboard_finished_meaning = Beendete von allen Läufen, die diese Einsender angemeldet haben. Sind es wenige, können
    sie eine glückliche Auswahl sein
leaderboard_explanation = Für einen Platz zählen alle belegten Läufe eines Geräts, jeder Einsender einmal am Tag.
    Geräte, die sich statistisch nicht unterscheiden, teilen sich einen Platz. Für einen Platz braucht ein Gerät Läufe
    von drei Einsendern an zwei Tagen.
leaderboard_each_network = Einzelne Netze
leaderboard_whole_suite = Ganze Suite
leaderboard_device = Gerät
leaderboard_runs = Läufe
leaderboard_finished = Beendet
leaderboard_no_places = Mit diesen Filtern hat noch kein Gerät einen Platz. Filter ändern oder diese Suite mit den
    Standardeinstellungen ausführen und das Ergebnis hochladen.
leaderboard_lines = Schnellste zuerst: { $here } von { $total } Einträgen
leaderboard_of = { $part } von { $whole }
leaderboard_apart = { $number ->
    [one] { $number } Ausreißer
   *[other] { $number } Ausreißer
 }
leaderboard_perhaps = vielleicht { $device }
leaderboard_voices_missing = { $number ->
    [one] noch { $number } Einsender bis zu einem Platz
   *[other] noch { $number } Einsender bis zu einem Platz
 }
leaderboard_best = bester Lauf
leaderboard_claimed = angegeben
leaderboard_reported = gemeldet
leaderboard_masked = verborgen
leaderboard_none_looked = Bisher kein Ergebnis gefunden. Mehr anzeigen oder weniger Filter setzen.
leaderboard_none = Noch keine Ergebnisse. Weniger Filter setzen oder den Benchmark starten und das Ergebnis hochladen.
leaderboard_day = Tag
leaderboard_place = Platz
leaderboard_among_processors = In der eigenen Tabelle der Prozessoren gewertet
leaderboard_software = Nicht gewertet: Ein Software-Adapter ist keine GPU
leaderboard_not_standard = Nicht gewertet: keine Standardeinstellungen
leaderboard_not_comparable = Nicht gewertet: ungleichmäßig, ohne Lernerfolg oder vielleicht ein Software-Adapter
leaderboard_unusual = { $precision }, Batchgröße { $batch }
leaderboard_yours = eigener
leaderboard_you = eigenes Gerät
leaderboard_in_browser = im Browser
leaderboard_native = nativ
leaderboard_score = Gesamtwert
leaderboard_rank = Schneller als { $share } von { $number } Einträgen
leaderboard_search = Geräte suchen
leaderboard_none_found = Kein Gerätename enthält das.
leaderboard_filters = Filter: { $filters }
leaderboard_first = Hier ist noch nichts gewertet. Diese Geräte haben dieselben Netze in Veröffentlichungen trainiert.
leaderboard_be_first = Benchmark starten und hochladen
leaderboard_published = Veröffentlichte Hardware
leaderboard_see = Zur Bestenliste
