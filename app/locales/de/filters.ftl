### Wonach Listen ausgewählt werden.

filters_all = Alle
filters_other = Andere
filters_order = Reihenfolge
filters_order_usual = Standard
filters_run_in = Ausgeführt in
filters_system = System
filters_vendor = Hersteller
filters_tier = Prüfung
filters_fastest = Schnellste zuerst
filters_newest = Neueste zuerst
filters_oldest = Älteste zuerst
filters_most_accurate = Genaueste zuerst
filters_soonest = Kürzeste Zeit bis zum Ziel zuerst
filters_more = Weitere Filter und Reihenfolge
filters_from = Von
filters_until = Bis
filters_only_device = Nur Läufe von { $device }
filters_show = Anzeigen
filters_devices = Geräte
filters_compute_on = Berechnet auf
filters_processors = Prozessoren
