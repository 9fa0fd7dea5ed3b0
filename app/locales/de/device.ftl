### Was über Geräte gesagt wird, und die Seite eines Geräts.

## Namen

device_masked = Eine GPU, die ihr Browser verbirgt
device_masked_but_for = { $told } (der Browser verbirgt, welche)
device_unnamed = ohne Namen
device_of_vendor = { $vendor }-GPU
device_source_reported = Den Namen des Geräts nennt sein System.
device_source_claimed = Browser verbergen den Namen; Besitzer haben ihn bei ihren Ergebnissen angegeben, und nichts
    spricht dagegen.
device_source_masked = Mehr verrät der Browser nicht, oder die gemessene Spitze passt nicht zum Namen; dahinter
    können verschiedene Modelle stehen.
device_this_browser = Dieser Browser
device_browser_on = { $browser } unter { $system }

## Die Seite eines Geräts

device_none = Dieses Gerät gibt es nicht
device_none_why = Vielleicht ist die Adresse falsch geschrieben, oder alle Ergebnisse dieses Geräts wurden gelöscht.
device_not_shown = Dieses Gerät lässt sich nicht anzeigen
device_merged = Diese zählen nach der Moderation als dasselbe Gerät: { $keys }. Warum, steht im { $log }.
device_maker = Ein Gerät von { $vendor }. { $source }
device_guess = Nach seinem gemessenen Spitzenwert könnte es { $guess } sein. Das ist eine Vermutung und entscheidet
    nichts.
device_latest = Neueste Ergebnisse
device_latest_note = Aus allen Stufen, neueste zuerst. In den Werten oben zählen nur belegte.
device_all_runs = Alle Läufe dieses Geräts
device_tax_line = { $workload }: { $tax }.
device_tax_category = { $suite }; { $backend } in { $precision }; { $submitters }
device_tax_title = Was ein Browser kostet
device_tax_note = Dieselben Kernel von der Befehlszeile und in Browsern. Stehen hinter einer Seite wenige
    Einsender, ist es ein Unterschied zwischen Rechnern.
device_no_place = Von diesem Gerät ist noch kein Lauf belegt, daher hat es keinen Platz. Seine Ergebnisse stehen
    unten.
device_suite_note = Wievielmal so schnell wie beim Referenzlauf alle Netze zusammen trainieren.
device_figures = Messwerte
device_figures_note = Mediane belegter Läufe, wobei jede Person einmal am Tag zählt; die Hälfte liegt in dem
    Bereich. Ein Platz gilt unter Geräten, Backends und Arten von Programmen mit derselben Suite, demselben Netz und
    Zahlenformat.
device_best = bester Lauf: { $network }, { $backend }, { $client }
device_history = Verlauf
device_history_not_shown = Der Verlauf lässt sich nicht anzeigen: { $reason }.
device_history_of = { $what }. Aus { $results }.
device_history_of_latest = { $what }. Aus den neuesten { $results }.
device_history_category = { $workload }, { $suite }; { $backend } in { $precision }, { $client }
device_version_or_month = Version oder Monat
device_first_and_last = Erster und letzter
device_engine = Rechenkern
device_driver = Treiber
device_month = Monat
