-- Which windows count follows from their lengths and their order; records no longer say it.
UPDATE runs SET record = REPLACE(REPLACE(REPLACE(record,
    ',"measured":true', ''), ',"measured":false', ''), '{"schema_version":1,', '{"schema_version":2,');

-- A result of too few windows, or of windows that disagree, is shown and never ranked.
ALTER TABLE results ADD COLUMN stable BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE results SET stable = TRUE WHERE summary LIKE '%"stable":true%';
