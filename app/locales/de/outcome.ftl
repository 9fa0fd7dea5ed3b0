### Wie ein Netz endete, nach seinem Namen und einem Doppelpunkt.

outcome_completed = abgeschlossen.
outcome_diverged = der Verlust wurde bei Schritt { $step } unendlich oder tausendmal so groß wie der erste; es gibt
    keine Messwerte.
outcome_incorrect = die Ergebnisse dieses Geräts weichen von der Referenz ab, deshalb wurde nichts gemessen. Ein
    neuerer Browser oder Grafiktreiber hilft vielleicht.
outcome_cancelled = abgebrochen.
outcome_failed = auf diesem Gerät war das Training nicht möglich: { $reason }.
