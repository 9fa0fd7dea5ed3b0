-- What a device's place is made from: whose run it is, and which device it is of. Derived from the record; rows that were
-- there before are filled when a server opens the data base, and until then they have no place.
ALTER TABLE runs ADD COLUMN suite_name TEXT;
ALTER TABLE runs ADD COLUMN suite_version BIGINT;
ALTER TABLE runs ADD COLUMN client_kind TEXT;           -- native, browser
ALTER TABLE runs ADD COLUMN device_class TEXT;          -- gpu, processor, software
ALTER TABLE runs ADD COLUMN device_key TEXT;            -- runs of one key are of one device
ALTER TABLE runs ADD COLUMN device_name TEXT;
ALTER TABLE runs ADD COLUMN device_source TEXT;         -- reported, claimed, masked
ALTER TABLE runs ADD COLUMN inferred TEXT;              -- a guess for readers
ALTER TABLE runs ADD COLUMN vendor TEXT;
ALTER TABLE runs ADD COLUMN submitter TEXT;             -- a word of one day, from which nobody is recognised the next
ALTER TABLE runs ADD COLUMN submitter_day BIGINT;       -- the day of that word, in days since 1970

CREATE INDEX runs_by_suite ON runs (suite_name, suite_version, device_class, tier);
CREATE INDEX runs_without_device ON runs (device_key, run_id);

ALTER TABLE started_runs ADD COLUMN submitter TEXT;

-- The secrets from which the words of a day are made, so that several servers make the same. They are deleted a day
-- after theirs; from then on no word leads back to an address.
CREATE TABLE submitter_salts (
    day BIGINT PRIMARY KEY,
    salt TEXT NOT NULL                  -- 32 bytes in hex
);

-- How many of a submitter's announced runs came to their end. It outlives the announcements.
CREATE TABLE announcements (
    submitter TEXT NOT NULL,
    suite_name TEXT NOT NULL,
    suite_version BIGINT NOT NULL,
    day BIGINT NOT NULL,
    announced BIGINT NOT NULL,
    finished BIGINT NOT NULL,
    PRIMARY KEY (submitter, suite_name, suite_version)
);

CREATE INDEX announcements_by_use ON announcements (finished, day);
