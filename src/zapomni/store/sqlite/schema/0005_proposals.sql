-- The review inbox: what somebody proposes to change, and what a person said to it. `mark` tells the same proposal.
CREATE TABLE proposals (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  scope_no INTEGER NOT NULL REFERENCES scopes (no),
  memories TEXT NOT NULL,
  reason TEXT NOT NULL,
  detail TEXT NOT NULL,
  mark BLOB NOT NULL,
  created_at TEXT NOT NULL,
  actor TEXT NOT NULL,
  state TEXT NOT NULL,
  decided_at TEXT,
  decided_by TEXT,
  answer TEXT NOT NULL,
  run TEXT
) STRICT;
-- One that is open is not filed twice and one that was rejected never again; what was accepted may come up anew.
CREATE UNIQUE INDEX proposals_mark ON proposals (mark) WHERE state <> 'accepted';
CREATE INDEX proposals_state ON proposals (state, scope_no);
CREATE INDEX proposals_run ON proposals (run) WHERE run IS NOT NULL;

-- Rules: memories that were raised from the scope of one agent into a wider one.
CREATE TABLE rules (
  memory_no INTEGER PRIMARY KEY REFERENCES memories (no) ON DELETE CASCADE,
  from_scope_no INTEGER NOT NULL REFERENCES scopes (no),
  at TEXT NOT NULL
) STRICT;

-- Which reader has acknowledged which rule, or which rejected proposal: `item` is its id.
CREATE TABLE acknowledged (
  scope_no INTEGER NOT NULL REFERENCES scopes (no),
  item TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (scope_no, item)
) STRICT, WITHOUT ROWID;

-- Questions whose memory was not found, and what came in its place; recalls of each scope by day, to compare with.
CREATE TABLE misses (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  at TEXT NOT NULL,
  query TEXT NOT NULL,
  memory_no INTEGER NOT NULL REFERENCES memories (no) ON DELETE CASCADE,
  found TEXT NOT NULL,
  actor TEXT NOT NULL
) STRICT;
CREATE INDEX misses_memory ON misses (memory_no);
CREATE TABLE recalls (
  day TEXT NOT NULL,
  scope_no INTEGER NOT NULL REFERENCES scopes (no),
  count INTEGER NOT NULL,
  PRIMARY KEY (day, scope_no)
) STRICT, WITHOUT ROWID;

-- Vectors of descriptions alone, by the digest of the text: derived, made when a question is first asked by description.
CREATE TABLE description_vectors (
  space_no INTEGER NOT NULL REFERENCES spaces (no),
  digest BLOB NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY (space_no, digest)
) STRICT;
