### What a leaderboard says of a run besides its tier, as results/src/api.rs has it.

note_perhaps_software = The browser hides what the adapter is, and it is no faster than a processor may be: nothing
    tells it from a program that acts as a GPU, so it is shown and not ranked. A browser that names the GPU's maker,
    or native-runner, gets it ranked.
note_seed_from_elsewhere = The seed did not come from this leaderboard, so nothing shows when the run was made.
note_computed_in_part = This run could be computed again in part only, because its weights are not kept: nothing that
    was found contradicts it.
note_not_trained = { $workload } could not be trained on this device and is left out of the table.
note_not_completed = { $workload } was not completed and is left out of the table.
