-- What a workload was computed in: results in different precisions are never ranked together.
-- Until now there was only f32.
ALTER TABLE results ADD COLUMN precision TEXT NOT NULL DEFAULT 'f32';
