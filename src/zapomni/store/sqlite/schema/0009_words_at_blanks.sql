-- The tokens of the words are made before they come here and are parted by blanks alone: a tokenizer that asks of no
-- character what it is finds the same ones in a third of the time. Every other character of ASCII that a token may
-- hold is named, and all beyond ASCII are kept.
CREATE VIRTUAL TABLE words_anew USING fts5 (
  title, body, exact,
  tokenize = "ascii tokenchars '!#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
);
INSERT INTO words_anew (words_anew, rank) VALUES ('secure-delete', 1);
INSERT INTO words_anew (rowid, title, body, exact) SELECT id, c0, c1, c2 FROM words_content ORDER BY id;
DROP TABLE word_counts;
DROP TABLE words;
ALTER TABLE words_anew RENAME TO words;
CREATE VIRTUAL TABLE word_counts USING fts5vocab (words, row);

CREATE VIRTUAL TABLE chunk_words_anew USING fts5 (
  title, body, exact,
  tokenize = "ascii tokenchars '!#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
);
INSERT INTO chunk_words_anew (chunk_words_anew, rank) VALUES ('secure-delete', 1);
INSERT INTO chunk_words_anew (rowid, title, body, exact) SELECT id, c0, c1, c2 FROM chunk_words_content ORDER BY id;
DROP TABLE chunk_word_counts;
DROP TABLE chunk_words;
ALTER TABLE chunk_words_anew RENAME TO chunk_words;
CREATE VIRTUAL TABLE chunk_word_counts USING fts5vocab (chunk_words, row);
