-- Branches of the memory. What a branch changes lies as memories in scopes of its own: 'NAME@SCOPE' what it wrote,
-- 'NAME' what it deleted, both of kind 'branch'.
CREATE TABLE branches (
  name TEXT PRIMARY KEY,
  created_at TEXT NOT NULL,
  actor TEXT NOT NULL,
  dropped_at TEXT,
  dropped_run TEXT
) STRICT, WITHOUT ROWID;

-- Which memory a branch's own stands for, and the version of it that the branch began with.
CREATE TABLE branch_bases (
  memory_no INTEGER PRIMARY KEY REFERENCES memories (no) ON DELETE CASCADE,
  base_id TEXT NOT NULL,
  base_version INTEGER NOT NULL
) STRICT;
CREATE INDEX branch_bases_base ON branch_bases (base_id);
