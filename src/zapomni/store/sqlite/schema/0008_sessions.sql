-- What the sessions of a client were shown and which of their events were answered: ids and digests, no text.
CREATE TABLE session_marks (
  session TEXT NOT NULL,
  mark TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (session, mark)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_marks_at ON session_marks (at);

-- What a session begins with is read in a few milliseconds, however many memories there are.
CREATE INDEX memories_pinned ON memories (scope_no) WHERE pinned = 1;
CREATE INDEX memories_working ON memories (scope_no, created_at) WHERE kind = 'working';
CREATE INDEX memories_project ON memories (scope_no, created_at) WHERE about = 'project';
CREATE INDEX memories_captured ON memories (scope_no, created_at) WHERE origin = 'session';
-- The index of pages knows the kind too, so that counting by kind reads no row.
DROP INDEX memories_timeline;
CREATE INDEX memories_timeline ON memories (created_at, no, scope_no, trust, deleted_at, valid_from, valid_until, kind);
