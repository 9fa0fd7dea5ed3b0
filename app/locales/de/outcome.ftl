### Wie ein Netz endete, nach seinem Namen und einem Doppelpunkt.

outcome_completed = abgeschlossen.
outcome_diverged = der Verlust wurde bei Schritt { $step } unendlich oder tausendmal so groß wie der erste; es gibt
    keinen Messwert.
outcome_incorrect = dieses Gerät hat etwas anderes berechnet als die Referenz, deshalb wurde nichts gemessen. Ein
    neuerer Browser oder Grafiktreiber hilft vielleicht.
outcome_cancelled = abgebrochen.
outcome_failed = auf diesem Gerät war das Training nicht möglich: { $reason }.
