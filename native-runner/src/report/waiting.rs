//! What of the training was no computing, in words.

use results::WorkloadRecord;

use crate::figures::figure;

/// How much of the training several devices waited for what they told each other; `None` of one device.
pub(super) fn communication(record: &WorkloadRecord) -> Option<String> {
    let told = record.communication?;
    let seconds = |seconds| figure("training_seconds", seconds);
    Some(format!(
        "{}: {} devices · communication {} ({:.1} % of the timed training): reading {}, summing {}, writing {}{} · {} MiB \
         in {} exchanges",
        record.workload,
        told.devices,
        seconds(told.seconds()),
        100.0 * record.communication_share()?,
        seconds(told.reading_seconds),
        seconds(told.summing_seconds),
        seconds(told.writing_seconds),
        told.overlapped.map(|of| format!("; {} more while they computed", seconds(of.seconds()))).unwrap_or_default(),
        told.bytes >> 20,
        told.exchanges,
    ))
}

/// How much of the training the device waited for its batches; `None` where the data set lies on it.
pub(super) fn input(record: &WorkloadRecord) -> Option<String> {
    let brought = record.input?;
    let seconds = |seconds| figure("training_seconds", seconds);
    Some(format!(
        "{}: {} · waited {} ({:.1} % of the timed training): preparing {}, uploading {} · {} MiB in {} batches",
        record.workload,
        brought.mode.text(),
        seconds(brought.waiting_seconds),
        100.0 * record.input_share()?,
        seconds(brought.preparing_seconds),
        seconds(brought.uploading_seconds),
        brought.bytes >> 20,
        brought.batches,
    ))
}
