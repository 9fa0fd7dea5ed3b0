### Wo ein Lauf unter anderen steht.

standing_only = Bisher gibt es nur einen belegten Lauf dieser Art.
standing_faster = Schneller als { $share } von { $runs } belegten Läufen
standing_than_on_device = ; als { $share } von { $runs } auf diesem Gerät
standing_than_of_vendor = ; als { $share } von { $runs } von diesem Hersteller
standing_as_fast = ein Browser trainiert so schnell wie ein Programm
standing_slower = ein Browser trainiert { $share } langsamer als ein Programm
standing_browser_faster = ein Browser trainiert { $share } schneller als ein Programm
standing_tax_submitters = { $programs } mit Programmen, { $browsers } mit Browsern
standing_title = Vergleich mit anderen
standing_kind = Verglichen mit belegten Läufen mit gleicher Suite, gleichem Netz, Backend und Zahlenformat und gleicher
    Art von Programm.
standing_nobody = Es gibt noch keinen belegten Lauf mit gleicher Suite, gleichem Netz, Backend und Zahlenformat und
    gleicher Art von Programm.
standing_rates = Durchsatz aller belegten Läufe
standing_bins = nach Beispielen pro Sekunde, in Schritten von fünf Prozent
standing_this_run = dieser Lauf
standing_described = { $runs } zwischen { $low } und { $high } Beispielen pro Sekunde. Die größte Gruppe ({ $fullest ->
    [one] ein Lauf
   *[other] { $fullest }
 }) liegt zwischen { $from } und { $to } Beispielen pro Sekunde. Dieser Lauf: { $own }.
