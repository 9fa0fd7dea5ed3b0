### Wo ein Lauf unter anderen steht.

standing_only_this = Bisher ist dies der einzige belegte Lauf dieser Art.
standing_only_other = Daneben gibt es bisher nur einen belegten Lauf dieser Art.
standing_faster = Schneller als { $share } von { $runs } belegten Läufen
standing_faster_all_on_device = Schneller als { $share } von { $runs } belegten Läufen, alle auf diesem Gerät
standing_faster_all_of_vendor = Schneller als { $share } von { $runs } belegten Läufen, alle von diesem Hersteller
standing_only_on_device = ; der einzige auf diesem Gerät
standing_only_of_vendor = ; der einzige von diesem Hersteller
standing_than_on_device = ; als { $share } von { $runs } auf diesem Gerät
standing_than_of_vendor = ; als { $share } von { $runs } von diesem Hersteller
standing_counts = Dieser Lauf ist belegt und zählt daher zu denen, mit denen er verglichen wird.
standing_counts_not = Dieser Lauf wird mit belegten Läufen verglichen, ohne selbst zu ihnen zu zählen.
standing_as_fast = ein Browser trainiert so schnell wie ein Programm
standing_slower = ein Browser trainiert { $share } langsamer als ein Programm
standing_browser_faster = ein Browser trainiert { $share } schneller als ein Programm
standing_tax_submitters = { $programs } mit Programmen, { $browsers } mit Browsern
standing_title = Einordnung
standing_not_shown = Das lässt sich nicht anzeigen: { $reason }.
standing_all_of_device = Alle Ergebnisse dieses Geräts
standing_reference = 1,00 ist { $reference }.
standing_score = Punktzahl { $score }.
standing_score_of = Alle Netze der Suite zusammen.
standing_kind = Sie haben dieselbe Suite, dasselbe Netz, Backend und Zahlenformat und dieselbe Art von Programm.
standing_software = Ein Programm, das sich als GPU ausgibt, wird mit keiner GPU verglichen und hat daher keinen Platz.
standing_nobody = Mit derselben Suite, demselben Netz, Backend und Zahlenformat und derselben Art von Programm ist
    noch kein Lauf belegt; es gibt also nichts zu vergleichen.
standing_rates_of = Durchsatz aller belegten Läufe, { $workload }
standing_rates = Durchsatz aller belegten Läufe
standing_rates_not_shown = Der Durchsatz lässt sich nicht anzeigen: { $reason }.
standing_bins = nach Beispielen pro Sekunde, in Klassen von fünf Prozent
standing_this_run = dieser Lauf
standing_no_runs = Es gibt keine belegten Läufe.
standing_described = { $runs } liegen zwischen { $low } und { $high } Beispielen pro Sekunde, die meisten
    ({ $fullest }) zwischen { $from } und { $to } Beispielen pro Sekunde. Dieser Lauf: { $own }.
