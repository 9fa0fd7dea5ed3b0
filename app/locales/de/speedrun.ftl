### Rekorde der Zeit bis zum Ziel und die offene Klasse.

speedrun_title = Speedrun
speedrun_link = Speedrun: am schnellsten am Ziel
speedrun_lead = Die kürzeste belegte Trainingszeit bis zum Ziel eines Netzes, je Klasse von Geräten.
speedrun_rules = Ziel: { $goal } auf den Testdaten. Es zählen nur belegte Läufe der ganzen Suite { $suite } mit den
    Standardeinstellungen; Tests zählen nicht zur Zeit. Unter jedem Rekord stehen die Läufe, die ihn vorher hielten.
speedrun_classes = Die Klasse folgt aus dem, was das System meldet: seine Art, der Name der GPU und ob es einen Akku
    gibt. Ein Computer, dessen Browser beides verbirgt, zählt als Desktop.
speedrun_phone = Telefon
speedrun_laptop = Laptop
speedrun_desktop = Desktop
speedrun_server = Server
speedrun_record = Rekord
speedrun_record_meaning = Schnellster belegter Lauf seiner Klasse
speedrun_kernels = Kernel
speedrun_none = Noch kein belegter Lauf hat das Ziel erreicht.
speedrun_run = Suite { $suite } ausführen

## Die offene Klasse

speedrun_open = Offene Klasse
speedrun_open_lead = Eigene Netze, sortiert nach dem Testverlust, den die Bestenliste selbst aus den letzten Gewichten
    berechnet.
speedrun_open_changes = Eine Netzdatei darf den Optimierer, die Lernrate und ihren Verlauf und alle Größen des Netzes
    ändern. Der Text, seine Zeichen und sein Testteil bleiben, und jede Antwort darf nur von den Zeichen davor
    abhängen.
speedrun_open_document = Die Regeln, das Format und ein Beispiel: { $document }
speedrun_open_how = Eine Datei schreiben, dann mit diesem Befehl trainieren und hochladen:
speedrun_open_ranking = Offene Klasse nach Testverlust
speedrun_open_none = Noch kein belegter Lauf in der offenen Klasse.
speedrun_parameters = { $number ->
    [one] { $number } Parameter
   *[other] { $number } Parameter
 }
speedrun_bits = { $bits } Bits pro Zeichen
speedrun_training_time = Trainingszeit
