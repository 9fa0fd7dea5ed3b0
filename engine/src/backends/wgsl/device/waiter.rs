//! A thread that polls the device, so that futures wake up and the engine itself never blocks. Browsers need none.

use std::sync::mpsc::{Sender, channel};

pub(in crate::backends::wgsl) struct Waiter {
    submissions: Sender<wgpu::SubmissionIndex>,
}

impl Waiter {
    pub(in crate::backends::wgsl) fn new(device: wgpu::Device) -> Self {
        let (submissions, receiver) = channel();
        std::thread::spawn(move || {
            // The loop ends when the device's owner, and with it the sender, is gone.
            while let Ok(submission) = receiver.recv() {
                let wait = wgpu::PollType::Wait { submission_index: Some(submission), timeout: None };
                if device.poll(wait).is_err() {
                    break;
                }
            }
        });
        Self { submissions }
    }

    pub(in crate::backends::wgsl) fn wait_for(&self, submission: wgpu::SubmissionIndex) {
        // The thread is gone only after the device failed, which its callbacks have told.
        let _ = self.submissions.send(submission);
    }
}
