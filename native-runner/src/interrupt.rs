use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{io, thread};

use crate::screen::Screen;

/// Exit status after Ctrl-C by shell convention: 128 plus the signal's number.
const EXIT_STATUS: i32 = 130;

/// Ctrl-C: the first one stops the run after its window, the second one ends the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Handles Ctrl-C from now on; `notice` tells the user that the first one was received. Without a handler, Ctrl-C
    /// ends the program at once.
    pub(crate) fn listen(&self, notice: impl Fn() + Send + 'static) {
        let asked = self.clone();
        let handler = move || {
            if asked.0.swap(true, Ordering::SeqCst) {
                // The shell's prompt belongs on a line of its own.
                drop(Screen::Error.line(""));
                end_now();
            }
            notice();
        };
        drop(ctrlc::set_handler(handler));
    }

    /// Lets the next Ctrl-C end the program: nothing is left to save.
    pub(crate) fn end_at_once(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub(crate) fn asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// Ends the program when its standard input ends, because its parent has exited.
pub(crate) fn end_with_input() {
    thread::spawn(|| {
        // An input that cannot be read has ended, too.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        end_now();
    });
}

/// Ends the program without the exit functions of drivers: they would free memory that another thread uses, and
/// NVIDIA's driver crashes.
fn end_now() -> ! {
    #[cfg(unix)]
    // SAFETY: `_exit` has no preconditions.
    unsafe {
        nix::libc::_exit(EXIT_STATUS)
    }
    #[cfg(not(unix))]
    std::process::exit(EXIT_STATUS)
}
