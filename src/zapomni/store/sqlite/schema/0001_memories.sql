-- The first schema: memories and their history, which are the truth, and the indexes derived from them.
PRAGMA application_id = 1515212110; -- 'ZPMN'

CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value ANY
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('store', randomblob(16)), ('generation', 1);

CREATE TABLE scopes (
  no INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  identity TEXT,
  UNIQUE (kind, name)
) STRICT;

-- A row is the whole memory. `tags` and `entities` are JSON lists; the tables of the same names index them.
-- Numbers are never used twice, so that nothing remembered about an erased row can fit a newer one. What filters
-- ask for most stands first and what is long last: a row is read no further than is asked.
CREATE TABLE memories (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  scope_no INTEGER NOT NULL REFERENCES scopes (no),
  trust TEXT NOT NULL,
  deleted_at TEXT,
  valid_until TEXT,
  valid_from TEXT,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  about TEXT,
  path TEXT,
  origin TEXT NOT NULL,
  importance REAL NOT NULL,
  pinned INTEGER NOT NULL,
  source TEXT,
  position INTEGER,
  key TEXT,
  digest BLOB NOT NULL,
  observed_at TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  accessed_at TEXT,
  access_count INTEGER NOT NULL,
  version INTEGER NOT NULL,
  tags TEXT NOT NULL,
  entities TEXT NOT NULL,
  metadata TEXT NOT NULL,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  content TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX memories_key ON memories (scope_no, key) WHERE key IS NOT NULL;
CREATE INDEX memories_digest ON memories (scope_no, digest) WHERE deleted_at IS NULL;
CREATE INDEX memories_source ON memories (scope_no, source, position) WHERE source IS NOT NULL;
-- The order of pages together with what the usual filter asks, so that listing and counting read no row.
CREATE INDEX memories_timeline ON memories (created_at, no, scope_no, trust, deleted_at, valid_from, valid_until);
-- The same for those who come with a number: the words and the vectors.
CREATE UNIQUE INDEX memories_seen ON memories (no, scope_no, trust, deleted_at, valid_from, valid_until, position);
CREATE INDEX memories_superseded ON memories (no) WHERE trust = 'superseded';

CREATE TABLE tags (
  fold TEXT NOT NULL,
  memory_no INTEGER NOT NULL REFERENCES memories (no) ON DELETE CASCADE,
  label TEXT NOT NULL,
  PRIMARY KEY (fold, memory_no)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_memory ON tags (memory_no);

CREATE TABLE entities (
  fold TEXT NOT NULL,
  memory_no INTEGER NOT NULL REFERENCES memories (no) ON DELETE CASCADE,
  label TEXT NOT NULL,
  PRIMARY KEY (fold, memory_no)
) STRICT, WITHOUT ROWID;
CREATE INDEX entities_memory ON entities (memory_no);

CREATE TABLE links (
  source TEXT NOT NULL,
  target TEXT NOT NULL,
  kind TEXT NOT NULL,
  PRIMARY KEY (source, target, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_target ON links (target, kind, source);

CREATE TABLE revisions (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  memory_no INTEGER NOT NULL,
  memory_id TEXT NOT NULL,
  verb TEXT NOT NULL,
  at TEXT NOT NULL,
  actor TEXT NOT NULL,
  run TEXT,
  before TEXT,
  after TEXT,
  undoes INTEGER
) STRICT;
CREATE INDEX revisions_memory ON revisions (memory_id);
CREATE INDEX revisions_run ON revisions (run) WHERE run IS NOT NULL;

CREATE TABLE runs (
  no INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  verb TEXT NOT NULL,
  actor TEXT NOT NULL,
  started_at TEXT NOT NULL,
  finished_at TEXT,
  detail TEXT NOT NULL
) STRICT;

CREATE TABLE rejections (
  scope_no INTEGER NOT NULL REFERENCES scopes (no),
  digest BLOB NOT NULL,
  reason TEXT NOT NULL,
  at TEXT NOT NULL,
  actor TEXT NOT NULL,
  PRIMARY KEY (scope_no, digest)
) STRICT, WITHOUT ROWID;

-- The words of every undeleted memory, under its number, in their order: ranking counts them again in the best hits.
CREATE VIRTUAL TABLE words USING fts5 (
  title, body, exact,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
);
INSERT INTO words (words, rank) VALUES ('secure-delete', 1); -- a word that is dropped leaves the file at once
CREATE VIRTUAL TABLE word_counts USING fts5vocab (words, row);

-- `prior` is the mean that a space began with, `mean` the one in use; `counted` vectors were there when it was
-- worked out, of texts of which the share `russian` was in Russian, and `epoch` grows whenever what others hold in memory of the space is void.
CREATE TABLE spaces (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  dimension INTEGER NOT NULL,
  preparation INTEGER NOT NULL,
  state TEXT NOT NULL,
  prior BLOB,
  mean BLOB,
  counted INTEGER NOT NULL DEFAULT 0,
  russian REAL NOT NULL DEFAULT 0.5,
  epoch INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE vectors (
  no INTEGER PRIMARY KEY,
  space_no INTEGER NOT NULL REFERENCES spaces (no),
  digest BLOB NOT NULL,
  vector BLOB NOT NULL,
  UNIQUE (space_no, digest)
) STRICT;

CREATE TABLE pieces (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  space_no INTEGER NOT NULL REFERENCES spaces (no),
  memory_no INTEGER NOT NULL REFERENCES memories (no) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  vector_no INTEGER NOT NULL REFERENCES vectors (no)
) STRICT;
CREATE UNIQUE INDEX pieces_memory ON pieces (memory_no, space_no, ordinal);
CREATE INDEX pieces_vector ON pieces (vector_no);

CREATE TABLE embed_jobs (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  space_no INTEGER NOT NULL REFERENCES spaces (no),
  memory_no INTEGER NOT NULL REFERENCES memories (no) ON DELETE CASCADE,
  attempts INTEGER NOT NULL DEFAULT 0,
  not_before TEXT,
  error TEXT,
  UNIQUE (space_no, memory_no)
) STRICT;
CREATE INDEX embed_jobs_memory ON embed_jobs (memory_no);
