-- Which windows count follows from their lengths and their order; records no longer say it.
UPDATE runs SET record = REPLACE(REPLACE(REPLACE(record,
    ',"measured":true', ''), ',"measured":false', ''), '{"schema_version":1,', '{"schema_version":2,');

-- Whether the figures themselves may be ranked: enough windows that agree, of a network that learned. Of results of the
-- first layout only the windows are known.
ALTER TABLE results ADD COLUMN rankable BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE results SET rankable = TRUE WHERE summary LIKE '%"stable":true%';
