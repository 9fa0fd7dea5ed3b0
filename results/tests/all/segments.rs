use results::{Beacon, Segment, weights_bytes};
use serde_json::json;

#[test]
fn weights_are_little_endian() {
    assert_eq!(weights_bytes(&[vec![1.0, -2.0], vec![0.5]]), [0, 0, 128, 63, 0, 0, 0, 192, 0, 0, 0, 63]);
}

#[test]
fn segments_are_written_as_hex() {
    let segment = Segment {
        beacon: Beacon([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]),
        state_sha256: "ab".to_owned(),
    };
    let written = json!({ "beacon": "000102030405060708090a0b0c0d0e0f", "state_sha256": "ab" });
    assert_eq!(serde_json::to_value(&segment).unwrap(), written);
    assert_eq!(serde_json::from_value::<Segment>(written).unwrap(), segment);
}
