-- Form of the device: phone, laptop, desktop or server; absent until the server that ran this migration has read it.
ALTER TABLE runs ADD COLUMN form TEXT;

-- Few: runs of older versions.
CREATE INDEX runs_without_form ON runs (run_id) WHERE form IS NULL;

-- Suite, version, form and kind of client, such as `language 1 laptop browser`. Each class has its own records.
ALTER TABLE results ADD COLUMN speedrun_class TEXT;

CREATE INDEX results_speedruns ON results (speedrun_class, workload, seconds_to_target, submitted_unix_seconds, run_id)
    WHERE ranked_as IS NOT NULL AND seconds_to_target IS NOT NULL;
