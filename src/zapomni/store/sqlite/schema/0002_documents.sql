-- Documents: the files that were attached, which can be read anew at any time, and their pieces.
CREATE TABLE sources (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  root TEXT NOT NULL,
  mode TEXT NOT NULL,
  scope_no INTEGER NOT NULL REFERENCES scopes (no),
  include TEXT NOT NULL,
  exclude TEXT NOT NULL,
  created_at TEXT NOT NULL,
  scanned_at TEXT,
  problem TEXT,
  UNIQUE (root, mode, scope_no)
) STRICT;

-- One row a file, those too that could not be read: they are not looked at again before they change.
CREATE TABLE documents (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  source_no INTEGER NOT NULL REFERENCES sources (no) ON DELETE CASCADE,
  path TEXT NOT NULL,
  size INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  preparation TEXT NOT NULL,
  kind TEXT NOT NULL,
  title TEXT NOT NULL,
  tags TEXT NOT NULL,
  format TEXT NOT NULL,
  encoding TEXT NOT NULL,
  chunks INTEGER NOT NULL,
  indexed_at TEXT,
  problem TEXT,
  notes TEXT NOT NULL,
  UNIQUE (source_no, path)
) STRICT;

CREATE TABLE document_tags (
  fold TEXT NOT NULL,
  document_no INTEGER NOT NULL REFERENCES documents (no) ON DELETE CASCADE,
  PRIMARY KEY (fold, document_no)
) STRICT, WITHOUT ROWID;
CREATE INDEX document_tags_document ON document_tags (document_no);

-- Numbers are never used twice, so that a piece remembered in memory is known to be gone.
CREATE TABLE chunks (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  document_no INTEGER NOT NULL REFERENCES documents (no) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  weight REAL NOT NULL,
  start INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  first_line INTEGER NOT NULL,
  last_line INTEGER NOT NULL,
  page INTEGER NOT NULL,
  trail TEXT NOT NULL,
  heading TEXT NOT NULL,
  text TEXT NOT NULL,
  UNIQUE (document_no, ordinal)
) STRICT;

CREATE VIRTUAL TABLE chunk_words USING fts5 (
  title, body, exact,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
);
INSERT INTO chunk_words (chunk_words, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE chunk_word_counts USING fts5vocab (chunk_words, row);

-- Beside the memories' own: a mean of documents says nothing about memories, and no index of one looks into the other.
CREATE TABLE chunk_spaces (
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

CREATE TABLE chunk_vectors (
  no INTEGER PRIMARY KEY,
  space_no INTEGER NOT NULL REFERENCES chunk_spaces (no),
  digest BLOB NOT NULL,
  vector BLOB NOT NULL,
  UNIQUE (space_no, digest)
) STRICT;

CREATE TABLE chunk_pieces (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  space_no INTEGER NOT NULL REFERENCES chunk_spaces (no),
  chunk_no INTEGER NOT NULL REFERENCES chunks (no) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  vector_no INTEGER NOT NULL REFERENCES chunk_vectors (no)
) STRICT;
CREATE UNIQUE INDEX chunk_pieces_chunk ON chunk_pieces (chunk_no, space_no, ordinal);
CREATE INDEX chunk_pieces_vector ON chunk_pieces (vector_no);

CREATE TABLE chunk_jobs (
  no INTEGER PRIMARY KEY AUTOINCREMENT,
  space_no INTEGER NOT NULL REFERENCES chunk_spaces (no),
  chunk_no INTEGER NOT NULL REFERENCES chunks (no) ON DELETE CASCADE,
  attempts INTEGER NOT NULL DEFAULT 0,
  not_before TEXT,
  error TEXT,
  UNIQUE (space_no, chunk_no)
) STRICT;
CREATE INDEX chunk_jobs_chunk ON chunk_jobs (chunk_no);
