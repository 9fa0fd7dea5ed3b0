### How a network ended, to follow its name and a colon.

outcome_completed = completed.
outcome_diverged = the loss became infinite, or a thousand times the first one, at step { $step }; there are no metrics.
outcome_incorrect = the results of this device differ from the reference, so nothing was timed. A newer browser
    or graphics driver may help.
outcome_cancelled = cancelled.
outcome_failed = it could not be trained on this device: { $reason }.
