-- What was deleted, so that nobody brings it back from an export: only hashes, which tell nothing of what they were of.
CREATE TABLE deleted_records (
    fingerprint TEXT PRIMARY KEY        -- SHA-256 of the record without run id and nonce, in hex
);
