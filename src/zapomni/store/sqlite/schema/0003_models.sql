-- What language models were asked and what it cost; no text of a memory stands here.
CREATE TABLE model_calls (
  no INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  purpose TEXT NOT NULL,
  model TEXT NOT NULL,
  tokens_in INTEGER NOT NULL,
  tokens_out INTEGER NOT NULL,
  usd REAL,
  run TEXT,
  ok INTEGER NOT NULL
) STRICT;
CREATE INDEX model_calls_at ON model_calls (at);
