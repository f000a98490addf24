-- Lines of an index that went with their memory, so that an undo brings them back.
CREATE TABLE mirror_lines (
  source_no INTEGER NOT NULL REFERENCES sources (no) ON DELETE CASCADE,
  memory_id TEXT NOT NULL,
  lines TEXT NOT NULL,
  PRIMARY KEY (source_no, memory_id)
) STRICT;
CREATE INDEX mirror_lines_memory ON mirror_lines (memory_id);
