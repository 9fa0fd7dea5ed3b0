//! Attacks that continue while an honest client is served.

use std::sync::atomic::{AtomicBool, Ordering};

/// Repeats each attack on its own thread until `meanwhile` returns.
pub(crate) fn while_attacked(attacks: &[&(dyn Fn() + Sync)], meanwhile: impl FnOnce()) {
    let is_over = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        // A scope waits for its threads, also where an assertion failed.
        let over = Over(is_over);
        for attack in attacks {
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    attack();
                }
            });
        }
        meanwhile();
        drop(over);
    });
}

/// Sets a flag when it is dropped.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
