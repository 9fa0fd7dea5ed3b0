//! Messages on a pipe: an object of JSON in a line, whose field `bytes` says how many bytes follow it.

use std::io::{self, BufRead, Read, Write};

use engine::backends::external::Message;
use serde_json::Value;

/// Longer lines and payloads are no answers.
const LONGEST_LINE: u64 = 16 << 20;
const MOST_BYTES: u64 = 1 << 30;
/// The field that says how many bytes follow.
const BYTES: &str = "bytes";

pub(super) fn write(output: &mut impl Write, message: &Message) -> io::Result<()> {
    let mut header = message.header.clone();
    if let Value::Object(fields) = &mut header {
        fields.insert(BYTES.to_owned(), message.payload.len().into());
    }
    serde_json::to_writer(&mut *output, &header)?;
    output.write_all(b"\n")?;
    output.write_all(&message.payload)?;
    output.flush()
}

/// The JSON of a line. Python's `json` writes NaN and Infinity, which JSON lacks: they become null.
fn parse(line: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(line).or_else(|error| {
        let text = String::from_utf8_lossy(line).replace("-Infinity", "null");
        serde_json::from_str(&text.replace("Infinity", "null").replace("NaN", "null")).map_err(|_| error)
    })
}

/// # Errors
/// A sentence that says what came instead.
pub(super) fn read(input: &mut impl BufRead) -> Result<Message, String> {
    let mut line = Vec::new();
    let read = input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
    read.map_err(|error| format!("it cannot be read: {error}"))?;
    if line.is_empty() {
        return Err("it has closed its standard output".to_owned());
    }
    let header = parse(&line).map_err(|error| {
        let begin: String = String::from_utf8_lossy(&line).trim().chars().take(80).collect();
        format!("its answer is no line of JSON ({error}): {begin:?}")
    })?;
    let bytes = match header.get(BYTES) {
        None => 0,
        Some(bytes) => bytes.as_u64().filter(|&bytes| bytes <= MOST_BYTES).ok_or_else(|| {
            format!(
                "the field `{BYTES}` of its answer says that {bytes} bytes follow, and must be a whole number up to \
                 {MOST_BYTES}"
            )
        })?,
    };
    let mut payload = Vec::new();
    let read = input.by_ref().take(bytes).read_to_end(&mut payload);
    match read {
        Ok(length) if length as u64 == bytes => Ok(Message { header, payload }),
        Ok(length) => Err(format!("its answer ends after {length} of {bytes} bytes")),
        Err(error) => Err(format!("it cannot be read: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let message = Message { header: json!({"message": "weights"}), payload: vec![10, 0, 255] };
        let mut pipe = Vec::new();
        write(&mut pipe, &message).unwrap();
        write(&mut pipe, &Message { header: json!({}), payload: Vec::new() }).unwrap();
        let mut pipe = pipe.as_slice();
        let first = read(&mut pipe).unwrap();
        assert_eq!((first.header["message"].as_str(), first.payload), (Some("weights"), message.payload));
        assert_eq!(read(&mut pipe).unwrap().payload, Vec::<u8>::new());
        assert!(read(&mut pipe).unwrap_err().contains("closed"));
    }

    #[test]
    fn numbers_that_json_lacks_are_null() {
        let mut line: &[u8] = b"{\"losses\": [NaN, -Infinity, Infinity, 1.5]}\n";
        assert_eq!(read(&mut line).unwrap().header, json!({"losses": [null, null, null, 1.5]}));
    }

    #[test]
    fn what_is_no_message_is_shown() {
        let refused = |bytes: &[u8]| read(&mut &*bytes).unwrap_err();
        assert!(refused(b"Using TensorFlow backend\n").contains("Using TensorFlow"));
        assert!(refused(b"{\"bytes\": -1}\n").contains("-1 bytes"));
        assert!(refused(b"{\"bytes\": 4}\nab").contains("2 of 4"));
    }
}
