//! Makes of a run's record the reference whose score is 1, to be added to `reference/score.json`.
//!
//! cargo run -p leaderboard --example freeze_reference -- record.json

use std::error::Error;

use leaderboard::ReferenceScore;
use results::RunRecord;

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("name the file of a record, as `native-runner --json FILE` writes it")?;
    let record: RunRecord = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let reference = ReferenceScore::of(&record)
        .ok_or("this is no standard run in which every workload of the suite was completed, settled and learned")?;
    println!("{}", serde_json::to_string_pretty(&reference)?);
    Ok(())
}
