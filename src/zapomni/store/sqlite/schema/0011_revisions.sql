-- A revision keeps what its memory was before it. What it was after stands in the revision that follows, or in the
-- memory itself: kept here too, it made every memory three times as large as its text.
ALTER TABLE revisions DROP COLUMN after;
