//! Bytes that are imported as a record.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| leaderboard::fuzzing::import(bytes));
