//! Colours and bars, on a real pseudo-terminal.
#![cfg(target_os = "linux")]

use crate::support::{Runner, TINY, on_a_terminal};

/// Whether the text holds a command that sets colours or weights.
fn has_colours(text: &str) -> bool {
    text.split("\u{1b}[")
        .skip(1)
        .any(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m'))
}

#[test]
fn colours_are_for_terminals_and_no_color_turns_them_off() {
    let Some(coloured) = on_a_terminal("workloads", 80, &[], "") else { return };
    assert!(has_colours(&coloured), "{coloured:?}");
    let plain = on_a_terminal("workloads", 80, &[("NO_COLOR", "1")], "").unwrap();
    assert!(!has_colours(&plain), "{plain:?}");
    let piped = Runner::new("workloads").run().expect_status(0).stdout;
    assert!(!piped.contains('\u{1b}'), "{piped:?}");
}

#[test]
fn a_narrow_terminal_gets_narrow_lines() {
    let Some(text) = on_a_terminal("workloads", 50, &[("NO_COLOR", "1")], "") else { return };
    let widest = text.lines().map(|line| line.trim_end().chars().count()).max().unwrap();
    assert!(widest <= 50, "{widest} columns:\n{text}");
}

#[test]
fn a_bar_is_drawn_on_a_terminal_and_nowhere_else() {
    let run = "--backend reference --steps 3 --batch-size 16 --learning-rate 1e30";
    let Some(text) = on_a_terminal(&format!("{run} --workload-file '{TINY}'"), 80, &[("NO_COLOR", "1")], "") else {
        return;
    };
    assert!(text.contains('━') || text.contains('─'), "{text:?}");
    assert!(text.contains("checking results"), "{text:?}");
    assert!(!has_colours(&text), "{text:?}");
    let piped = Runner::new(run).tiny().run().expect_status(3).stderr;
    assert!(!piped.contains('\u{1b}') && !piped.contains("checking results"), "{piped:?}");
}
