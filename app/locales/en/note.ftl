### Notes of a leaderboard on a run, as results/src/api.rs has them.

note_perhaps_software = The browser hides the adapter, and it is no faster than a processor can be: it may be a
    software adapter, so it is shown and not ranked. A browser that names the GPU's maker, or native-runner, gets it
    ranked.
note_seed_from_elsewhere = The seed did not come from this leaderboard, so nothing shows when the run was made.
note_computed_in_part = This run could be computed again in part only, because its weights are not kept. Nothing that
    was found contradicts it.
note_not_computed = This run could not be computed again, whatever the reason.
note_not_trained = { $workload } could not be trained on this device and is left out of the table.
note_not_completed = { $workload } was not completed and is left out of the table.
note_not_provable = { $workload }: a leaderboard cannot prove networks whose images alternate from epoch to epoch, so
    this one is not ranked.
note_large_states = { $workload }: a leaderboard cannot prove networks whose weights and optimizer memories are this
    large, so this one is not ranked.
note_other_flagged = Another run of this submitter on this day was flagged.
note_moderated = A moderator flagged this run
