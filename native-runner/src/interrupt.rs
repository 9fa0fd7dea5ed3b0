use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{io, thread};

use crate::screen::Screen;

/// Exit status of a program that Ctrl-C ended, by the shell's custom: 128 and the signal's number.
const EXIT_STATUS: i32 = 130;

/// Ctrl-C: the first one asks the run to stop after its window, the second one ends the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on; `notice` tells the person that the first Ctrl-C was heard.
    ///
    /// Without a handler Ctrl-C ends the program at once, which is good enough to go on without one.
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

    /// From now on even the first Ctrl-C ends the program: there is nothing left to save.
    pub(crate) fn end_at_once(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub(crate) fn asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// From now on the program ends when its standard input does: then whoever started it has gone, and nobody wants its figures.
pub(crate) fn end_with_input() {
    thread::spawn(|| {
        // An input that cannot be read has ended, too.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        end_now();
    });
}

/// Ends the program while another thread may be using a GPU, without the functions that drivers register to run at exit:
/// they would free memory that the thread uses, and NVIDIA's driver crashes.
fn end_now() -> ! {
    #[cfg(unix)]
    // SAFETY: `_exit` has no preconditions.
    unsafe {
        nix::libc::_exit(EXIT_STATUS)
    }
    #[cfg(not(unix))]
    std::process::exit(EXIT_STATUS)
}
