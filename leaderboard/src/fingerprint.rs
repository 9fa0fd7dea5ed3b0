use results::RunRecord;

use crate::secrets;

/// Takes run id and nonce out of the record and hashes the rest, by which the same record is known when it comes again.
pub(crate) fn fingerprint(record: &mut RunRecord) -> Result<String, serde_json::Error> {
    record.run_id = None;
    record.nonce = None;
    Ok(secrets::sha256(&serde_json::to_vec(record)?))
}
