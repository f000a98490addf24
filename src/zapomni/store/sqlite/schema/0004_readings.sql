-- Readings: texts that a language model read, kept whole, and what became of them.
CREATE TABLE readings (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  scope_no INTEGER NOT NULL REFERENCES scopes (no),
  source TEXT NOT NULL,
  path TEXT,
  sha256 TEXT NOT NULL,
  text TEXT NOT NULL,
  at TEXT NOT NULL,
  run TEXT
) STRICT;
CREATE INDEX readings_source ON readings (scope_no, source, path);

-- Where in a reading a memory stands: characters of its text.
CREATE TABLE reading_spans (
  memory_no INTEGER NOT NULL REFERENCES memories (no) ON DELETE CASCADE,
  reading_no INTEGER NOT NULL REFERENCES readings (no) ON DELETE CASCADE,
  start INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  PRIMARY KEY (memory_no, reading_no)
) STRICT, WITHOUT ROWID;
CREATE INDEX reading_spans_reading ON reading_spans (reading_no);

-- Memories stored as they came, for no model answered; one is asked later.
CREATE TABLE enrich_jobs (
  memory_no INTEGER PRIMARY KEY REFERENCES memories (no) ON DELETE CASCADE,
  attempts INTEGER NOT NULL DEFAULT 0,
  not_before TEXT,
  error TEXT
) STRICT;

-- Memories that a consolidation has looked at; without a row one waits for the next.
CREATE TABLE consolidated (
  memory_no INTEGER PRIMARY KEY REFERENCES memories (no) ON DELETE CASCADE,
  run TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE INDEX consolidated_run ON consolidated (run);
