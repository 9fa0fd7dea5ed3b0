### Ob Backends dieselbe Genauigkeit erreicht haben. Auf Englisch steht es hier wie in der Crate `results`.

agreement_nothing_found = { $subject }: kein Unterschied gefunden; sie liegen höchstens { $largest } auseinander, durch
    Zufall sind { $allowed } zu erwarten (nach { $spread })
agreement_disagree = { $subject } stimmen nicht überein: { $pairs }; { $allowed } erklären sich aus { $spread }
agreement_unclear = { $nothing_found }; das reicht nicht zur Entscheidung, dafür braucht es mehr Seeds
agreement_not_compared = Die Genauigkeiten wurden nicht verglichen: { $obstacle }
agreement_pair = { $higher } liegt { $difference } über { $lower }
agreement_too_few = weniger als zwei Backends sind fertig geworden
agreement_no_common_seed = kein Seed wurde von allen Backends zu Ende trainiert
agreement_no_common_step = die Backends wurden nie nach demselben Schritt getestet; mit einer festen Zahl von
    Epochen bekommen alle dieselbe Arbeit
agreement_final = Die Genauigkeiten am Ende
agreement_after_step = Die Genauigkeiten nach Schritt { $step } (dem letzten, nach dem alle getestet wurden)
agreement_spread_of_seeds = den paarweisen Unterschieden von { $seeds } Seeds
agreement_sampling_error = der Zufallsstreuung von { $samples } Testbeispielen (ein Seed)
agreement_points = { $number } Prozentpunkte
