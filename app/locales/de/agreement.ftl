### Ob Backends dieselbe Genauigkeit erreicht haben. Auf Englisch steht es hier wie in der Crate `results`.

agreement_agree = { $subject } stimmen im Rahmen { $spread } überein: { $numbers }
agreement_disagree = { $subject } stimmen nicht überein: { $pairs }; aus { $spread } erklären sich Unterschiede von
    { $allowed }
agreement_unclear = { $subject } stimmen vielleicht überein, vielleicht nicht: Sie unterscheiden sich um bis zu
    { $largest }, doch aus { $spread } erklären sich schon { $allowed }; länger trainieren oder mit mehr Seeds
agreement_not_compared = Die Genauigkeiten wurden nicht verglichen: { $obstacle }
agreement_pair = { $higher } liegt { $difference } über { $lower }
agreement_too_few = weniger als zwei Backends sind fertig geworden
agreement_no_common_seed = kein Seed wurde von allen Backends zu Ende trainiert
agreement_no_common_step = die Backends wurden nie nach demselben Schritt getestet; mit einer Zahl von Epochen
    bekommen alle dieselbe Arbeit
agreement_final = Die Genauigkeiten am Ende
agreement_after_step = Die Genauigkeiten nach Schritt { $step }, dem letzten, nach dem alle getestet wurden,
agreement_spread_of_seeds = der Streuung von { $seeds } Seeds
agreement_sampling_error = der Zufallsstreuung von { $samples } Testbeispielen (ein Seed)
agreement_numbers = sie unterscheiden sich um bis zu { $largest }, erklärt sind { $allowed }
agreement_numbers_same_seed = sie unterscheiden sich um bis zu { $largest }, erklärt sind { $allowed }; bei gleichem
    Seed um bis zu { $same_seed }
agreement_points = { $number } Prozentpunkte
