-- A word for the /24 (IPv4) or /48 (IPv6) that a run was announced from, made as the submitter's; absent for the host's own
-- machine. Its runs share a part of the budget for weights.
ALTER TABLE started_runs ADD COLUMN prefix TEXT;

-- Time of the last verification of a run. The prefix that was served longest ago comes first.
ALTER TABLE started_runs ADD COLUMN verified_unix_seconds DOUBLE PRECISION;
CREATE INDEX started_runs_verified ON started_runs (prefix, verified_unix_seconds);

-- The server that took a run. When a server starts, it releases what the one before it at the same address took.
ALTER TABLE verifications ADD COLUMN taken_by TEXT;
