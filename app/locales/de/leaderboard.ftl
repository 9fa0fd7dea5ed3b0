### Plätze der Geräte und einzelne Läufe.

leaderboard_log_and_data = Was Betreiber verborgen, markiert oder zusammengelegt haben, steht mit Gründen im { $log }.
leaderboard_places_not_shown = Die Plätze lassen sich nicht anzeigen: { $reason }.
leaderboard_results_not_shown = Die Ergebnisse lassen sich nicht anzeigen: { $reason }.
leaderboard_place_meaning = Platz; wer sich nicht unterscheiden lässt, teilt ihn
leaderboard_figure_meaning = Median über die Einsender, jeder einmal am Tag; die Hälfte liegt in dem Bereich
leaderboard_runs_meaning = Belegte Läufe und von wie vielen Personen: Jede zählt einmal am Tag
leaderboard_finished_meaning = Von den Läufen, die diese Personen angemeldet haben. Wurden wenige fertig, sind die
    fertigen eine glückliche Auswahl
leaderboard_explanation = Ein Platz ergibt sich aus allen belegten Läufen eines Geräts, wobei jede Person einmal am
    Tag zählt. Geräte, die sich nicht unterscheiden lassen, teilen ihn. Ein Gerät bekommt einen Platz, sobald aus
    drei Netzwerken an zwei Tagen Ergebnisse hochgeladen wurden.
leaderboard_each_network = Jedes Netz
leaderboard_whole_suite = Ganze Suite
leaderboard_score_explanation = Die Punktzahl sagt, wievielmal so schnell alle Netze zusammen trainieren; 1,00 ist
    { $reference }. { $lines }.
leaderboard_score = Punktzahl
leaderboard_device = Gerät
leaderboard_runs = Läufe
leaderboard_finished = Beendet
leaderboard_none_narrowed = In dieser Auswahl hat noch kein Gerät einen Platz. „Alle“ und f32 zeigen mehr, oder
    einen solchen Lauf hochladen.
leaderboard_none_processor = Noch hat kein Prozessor einen Platz. Burn auf dem Prozessor als Backend wählen, die
    Suite laufen lassen und hochladen.
leaderboard_none_gpu = Noch hat keine GPU einen Platz. Diese Suite unverändert laufen lassen und das Ergebnis
    hochladen. „Alle Läufe“ zeigt alles, was hochgeladen wurde.
leaderboard_one_line = 1 Gerät mit Backend
leaderboard_fastest_of = Die schnellsten { $here } von { $total } Geräten mit Backend
leaderboard_all_lines = { $total } Geräte mit Backend, schnellste zuerst
leaderboard_unknown = unbekannt
leaderboard_of = { $part } von { $whole }
leaderboard_apart = { $number ->
    [one] { $number } Lauf weicht ab
   *[other] { $number } Läufe weichen ab
 }
leaderboard_perhaps = vielleicht { $device }
leaderboard_voices_missing = { $number ->
    [one] noch { $number } Einsender bis zu einem Platz
   *[other] noch { $number } Einsender bis zu einem Platz
 }
leaderboard_inferred_meaning = Was es sein könnte, folgt aus seinem gemessenen Spitzenwert und entscheidet nichts
leaderboard_best_of = bester Lauf von { $device }, { $backend }, { $client }
leaderboard_best = bester Lauf
leaderboard_claimed = angegeben
leaderboard_claimed_meaning = Nach Angabe des Besitzers; der Browser verbirgt den Namen
leaderboard_reported = gemeldet
leaderboard_reported_meaning = Nach Auskunft des Systems
leaderboard_masked = verdeckt
leaderboard_masked_meaning = Der Browser verbirgt den Namen, oder die gemessene Spitze passt nicht zu ihm
leaderboard_look_further = Weitersuchen
leaderboard_none_looked = Unter den durchgesehenen passt nichts. Weitersuchen oder weniger einschränken.
leaderboard_none_filtered = Kein Ergebnis passt. Weniger einschränken oder den Benchmark starten und das eigene
    hochladen.
leaderboard_none = Noch kein Ergebnis. Das erste kann von hier kommen: den Benchmark starten und hochladen.
leaderboard_so_far = Bisher { $results }
leaderboard_listed = { $counted }, { $order }. Plätze haben Geräte; sie stehen unter „Geräte“.
leaderboard_day = Tag
leaderboard_place = Platz
leaderboard_software = Software-Adapter, nicht gewertet
leaderboard_unusual = kein Standardlauf, { $precision }, Batchgröße { $batch }
leaderboard_yours = eigener
