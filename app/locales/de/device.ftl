### Was über Geräte gesagt wird, und die Seite eines Geräts.

## Namen

device_masked = Eine GPU, die der Browser verbirgt
device_masked_but_for = { $told } (der Browser verbirgt, welche)
device_software = Ein Software-Adapter
device_compatibility = Kompatibilitätsmodus
device_unnamed = ohne Namen
device_source_reported = Das System nennt den Namen.
device_source_claimed = Browser verbergen den Namen. Besitzer haben ihn angegeben, und nichts widerspricht ihm.
device_source_masked = Mehr verrät der Browser nicht, oder die gemessene Spitzenleistung passt nicht zum Namen.
    Dahinter können verschiedene Modelle stehen.
device_this_browser = Dieser Browser
device_browser_on = { $browser } unter { $system }

## Die Seite eines Geräts

device_not_shown = Dieses Gerät lässt sich nicht anzeigen
device_merged = Die Moderation zählt diese als dasselbe Gerät: { $keys }.
device_guess = Nach der gemessenen Spitzenleistung könnte es { $guess } sein. Das ist nur eine Vermutung und ändert
    keine Wertung.
device_latest = Neueste Ergebnisse
device_all_runs = Alle Läufe dieses Geräts
device_tax_title = Was der Browser kostet
device_tax_note = Vergleicht dieselben Kernel auf der Befehlszeile und in Browsern. Bei wenigen Einsendern kann der
    Unterschied an ihren Rechnern liegen.
device_no_place = Dieses Gerät hat noch keinen belegten Lauf und daher keinen Platz.
device_not_ranked = Dieses Gerät hat belegte Läufe, aber keinen Platz. { $reason }.
device_figures = Messwerte
device_figures_note = Mediane belegter Läufe; jeder Einsender zählt einmal am Tag. Plätze vergleichen Geräte, Backends
    und Arten von Programmen bei gleicher Suite, gleichem Netz und gleichem Zahlenformat.
device_history = Verlauf
device_history_of = { $what }. Aus { $results }.
device_version_or_month = Version oder Monat
device_first_and_last = Erster und letzter
device_month = Monat

## Geräte für ein Netz

device_which = Welches Gerät trainiert ein Netz am schnellsten?
device_which_note = Der beste Eintrag jeder GPU in f32, nach der Zeit bis zum Ziel, dann nach dem Tempo. Bei manchen
    Netzen sind nur wenige Läufe lang genug für das Ziel.
