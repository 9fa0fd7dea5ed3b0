use serde::{Deserialize, Serialize};

/// A condition that was not ideal. Its text says what to do next.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Warning {
    /// The adapter is a program that computes on the processor, not a GPU.
    #[error(
        "{name} is a software adapter: the processor did the work. The result is shown but never ranked. Install a GPU \
         driver or turn on hardware acceleration to measure a GPU."
    )]
    SoftwareAdapter {
        /// Name of the adapter.
        name: String,
    },
    /// The browser hides what the adapter is, and its speed is one that a program on the processor could reach, so
    /// nothing tells it from one.
    #[error(
        "The browser does not identify this adapter, and software on {processors} logical processors could reach its \
         {:.0} GFLOP/s. It may be a software adapter, so the result is shown but not ranked. If there is a GPU, use a \
         browser that names its vendor (Chrome, Edge), or native-runner; if it should be faster, turn on hardware \
         acceleration or update its driver.",
        .flops_per_second / 1e9
    )]
    PerhapsSoftware {
        /// Highest speed seen on the adapter, in training or as its measured peak, in floating-point operations per
        /// second.
        flops_per_second: f64,
        /// Number of logical processors of the machine.
        processors: u32,
    },
    /// The half-width of the throughput's 95 % interval stayed above 2.5 % of the median.
    #[error(
        "{workload}: repeated windows still differed (±{half_width_percent:.1} %), so this result is not ranked. Close \
         other programs, let the device cool and run again."
    )]
    NotStabilised {
        /// Name of the workload.
        workload: String,
        /// Half-width of the interval, in percent of the median.
        half_width_percent: f64,
    },
    /// Fewer than five windows count.
    #[error(
        "{workload}: too few windows are long enough to count ({windows}); a ranked result needs five. Train for \
         longer."
    )]
    TooFewWindows {
        /// Name of the workload.
        workload: String,
        /// Number of windows that count.
        windows: u32,
    },
    /// The last pass over the test set was no better than always answering the most frequent class.
    #[error(
        "{workload}: a test accuracy of {:.2} % is no better than always predicting the most frequent class ({:.2} %), \
         so this result is not ranked. Train for longer or with a smaller learning rate.",
        .accuracy * 100.0,
        .chance * 100.0
    )]
    NotLearned {
        /// Name of the workload.
        workload: String,
        /// Share of the test set that was classified correctly, 0 to 1.
        accuracy: f64,
        /// Share of the test set that belongs to its most frequent class, 0 to 1.
        chance: f64,
    },
    /// The time budget ended the training before the suite's number of epochs.
    #[error(
        "{workload}: the time budget of {budget_seconds:.0} s ended training early, so the accuracy comes from a \
         shorter run. Set a number of epochs to train to the end."
    )]
    StoppedByBudget {
        /// Name of the workload.
        workload: String,
        /// Time budget of the training, in seconds.
        budget_seconds: f64,
    },
    /// The page was hidden for a part of the run.
    #[error(
        "The page was hidden for {seconds:.0} s, and {}. Keep the tab in front and run again.",
        describe_slowdown(*.paused_seconds)
    )]
    TabHidden {
        /// Seconds during which the page was hidden.
        seconds: f64,
        /// Seconds during which the run waited meanwhile, with nothing timed.
        paused_seconds: f64,
    },
    /// The browser's clock moves in steps too coarse for the windows used.
    #[error(
        "This browser's clock moves in steps of {:.1} ms, so short times are uncertain.",
        .resolution_seconds * 1e3
    )]
    CoarseTimer {
        /// Seconds by which the clock moves at once.
        resolution_seconds: f64,
    },
    /// Burn runs without fusion and autotune, which make it fast on a GPU, because its program was built without them.
    #[error(
        "{backend}: the program that trains was built without Burn's fusion and autotune, so Burn is slower than it \
         could be on this device. Add `burn-tuned` when building that program: `--features burn-wgpu,burn-tuned`."
    )]
    Untuned {
        /// Name of the back end.
        backend: String,
    },
    /// Training began although the time of a step had not settled while kernels were chosen.
    #[error(
        "{workload}: the step time was still changing after {steps} steps of tuning, so the first windows may include \
         some tuning. Close other programs and run again."
    )]
    TuningNotSettled {
        /// Name of the workload.
        workload: String,
        /// Steps after which choosing ended.
        steps: u32,
    },
    /// The screen could dim, because the browser gave no wake lock.
    #[error("The browser did not keep the screen on. Touch the screen now and then, or plug the device in.")]
    NoWakeLock,
    /// The device ran on its battery when the run began.
    #[error("This device ran on battery power, which makes many devices slower. Plug it in and run again.")]
    OnBattery,
    /// The platform reported serious pressure on the processor in a large part of the run.
    #[error(
        "The processor was overloaded or hot for {:.0} % of the run, possibly because of other programs or tabs. Close \
         them, let the device cool and run again.",
        .share * 100.0
    )]
    ProcessorPressed {
        /// Share of the run under such pressure, 0 to 1.
        share: f64,
    },
    /// The page is not cross-origin isolated, so the browser's clock is coarser than it could be.
    #[error(
        "The page is not cross-origin isolated, so the clock is coarse. Open it from a server that sends the COOP and \
         COEP headers, such as the leaderboard itself."
    )]
    NotIsolated,
    /// The leaderboard did not give a seed, so the result cannot be ranked.
    #[error(
        "The leaderboard gave no seed for this run ({reason}), so an upload will be marked unverified. Run again while \
         the leaderboard can be reached."
    )]
    Unregistered {
        /// Reason for the missing seed.
        reason: String,
    },
    /// The leaderboard could not follow the run, so the result cannot be proven.
    #[error(
        "{workload}: the leaderboard could not follow the run ({reason}), so it will not be proven or ranked. If the \
         connection was lost, run again on a stable one."
    )]
    CheckpointMissed {
        /// Name of the workload.
        workload: String,
        /// Reason why it could not.
        reason: String,
    },
    /// The samples were generated, because published ones were missing or do not exist.
    #[error(
        "{workload}: the samples are generated, not the published ones. Compare only the speed with published results, \
         not the accuracy. To train on the published bAbI stories, run native-runner with --babi and their folder."
    )]
    GeneratedData {
        /// Name of the workload.
        workload: String,
    },
    /// The recipe's batch does not fit into the memory of the device or the machine, so a smaller one was used.
    #[error(
        "{workload}: trained at batch size {used}, because the recipe's {asked} needs {} MiB but only {} MiB are \
         available. Results at different batch sizes are not comparable. A batch size that you set yourself is never \
         reduced.",
        .needed_bytes >> 20,
        .allowed_bytes >> 20
    )]
    SmallerBatch {
        /// Name of the workload.
        workload: String,
        /// Samples in a batch of the recipe.
        asked: u32,
        /// Samples in a batch that was trained with.
        used: u32,
        /// Memory that the recipe's batch needs, in bytes.
        needed_bytes: u64,
        /// Memory that is available, in bytes.
        allowed_bytes: u64,
    },
    /// Training ended before its limits, as the recipe demands once held-out samples are no longer classified better.
    #[error("{workload}: training stopped early because the accuracy on held-out samples no longer improved")]
    StoppedEarly {
        /// Name of the workload.
        workload: String,
    },
}

impl Warning {
    /// Returns the workload that the warning is about. The text of such a warning starts with its name.
    pub fn workload(&self) -> Option<&str> {
        match self {
            Self::NotStabilised { workload, .. }
            | Self::TooFewWindows { workload, .. }
            | Self::NotLearned { workload, .. }
            | Self::StoppedByBudget { workload, .. }
            | Self::TuningNotSettled { workload, .. }
            | Self::CheckpointMissed { workload, .. }
            | Self::GeneratedData { workload }
            | Self::SmallerBatch { workload, .. }
            | Self::StoppedEarly { workload } => Some(workload),
            _ => None,
        }
    }
}

fn describe_slowdown(paused_seconds: f64) -> String {
    if paused_seconds > 0.0 {
        format!("the run waited for {paused_seconds:.0} s, during which the device cooled down")
    } else {
        "browsers slow hidden pages down".to_owned()
    }
}
