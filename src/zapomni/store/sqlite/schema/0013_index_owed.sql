-- Files that went or moved while the index of their folder does not say so yet, each scan in two steps.
CREATE TABLE mirror_owed (
  source_no INTEGER NOT NULL REFERENCES sources (no) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  path TEXT NOT NULL,
  became TEXT,
  memory_id TEXT,
  PRIMARY KEY (source_no, step, path)
) STRICT;
-- By which hash a page is known once it says what is owed up to a step; it is kept before the page is written.
CREATE TABLE mirror_pages (
  source_no INTEGER NOT NULL REFERENCES sources (no) ON DELETE CASCADE,
  page TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  step INTEGER NOT NULL,
  PRIMARY KEY (source_no, page)
) STRICT;
