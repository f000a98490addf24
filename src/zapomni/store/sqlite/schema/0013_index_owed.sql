-- Files that went or moved while the index of their folder does not say so yet, each scan in two steps.
CREATE TABLE mirror_owed (
  source_no INTEGER NOT NULL REFERENCES sources (no) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  path TEXT NOT NULL,
  became TEXT,
  memory_id TEXT,
  PRIMARY KEY (source_no, step, path)
) STRICT;
