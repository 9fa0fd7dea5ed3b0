//! A thread that polls the device and wakes futures, so that the engine never blocks. Browsers do not need it.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Maximum wait for the thread to end, so that a hung device does not keep the program from exiting.
const MAX_WAIT: Duration = Duration::from_secs(5);

pub(super) struct Waiter {
    /// Closed when the device is dropped.
    submissions: Option<Sender<wgpu::SubmissionIndex>>,
    /// Closed by the thread before it ends.
    ended: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl Waiter {
    pub(super) fn new(device: wgpu::Device) -> Self {
        let (submissions, receiver) = channel();
        let (end, ended) = channel();
        let thread = std::thread::spawn(move || {
            // The loop ends when the sender is dropped.
            while let Ok(submission) = receiver.recv() {
                let wait = wgpu::PollType::Wait { submission_index: Some(submission), timeout: None };
                if device.poll(wait).is_err() {
                    break;
                }
            }
            drop(device);
            drop::<Sender<()>>(end);
        });
        Self { submissions: Some(submissions), ended, thread: Some(thread) }
    }

    pub(super) fn wait_for(&self, submission: wgpu::SubmissionIndex) {
        // The thread ends early only after a device failure, which the callbacks have reported.
        let _ = self.submissions.as_ref().map(|submissions| submissions.send(submission));
    }
}

/// Waits for the thread to end. NVIDIA's driver crashes if a thread frees a device while the program exits
/// (gfx-rs/wgpu#8365).
impl Drop for Waiter {
    fn drop(&mut self) {
        drop(self.submissions.take());
        if self.ended.recv_timeout(MAX_WAIT) == Err(RecvTimeoutError::Disconnected)
            && let Some(thread) = self.thread.take()
        {
            // The panic hook has reported any panic of the thread.
            let _ = thread.join();
        }
    }
}
