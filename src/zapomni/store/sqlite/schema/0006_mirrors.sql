-- Mirrored folders: each file as it stood when it and its memory last said the same.
CREATE TABLE mirrored (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  source_no INTEGER NOT NULL REFERENCES sources (no) ON DELETE CASCADE,
  path TEXT NOT NULL,
  memory_id TEXT,
  sha256 TEXT NOT NULL,
  size INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  version INTEGER NOT NULL,
  links TEXT NOT NULL,
  held INTEGER NOT NULL,
  problem TEXT,
  clash TEXT,
  text TEXT,
  UNIQUE (source_no, path)
) STRICT;
CREATE INDEX mirrored_memory ON mirrored (memory_id);

-- Files that went with their memory, so that an undo brings both back.
CREATE TABLE mirror_removed (
  source_no INTEGER NOT NULL REFERENCES sources (no) ON DELETE CASCADE,
  memory_id TEXT NOT NULL,
  path TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (source_no, memory_id)
) STRICT;
CREATE INDEX mirror_removed_memory ON mirror_removed (memory_id);
