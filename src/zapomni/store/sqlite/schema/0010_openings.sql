-- What a session begins with is counted too, and counting must read no row: the indexes know all that is asked.
DROP INDEX memories_working;
DROP INDEX memories_project;
DROP INDEX memories_captured;
CREATE INDEX memories_working
  ON memories (scope_no, created_at, no, trust, deleted_at, valid_from, valid_until, pinned, origin)
  WHERE kind = 'working';
CREATE INDEX memories_project
  ON memories (scope_no, created_at, no, trust, deleted_at, valid_from, valid_until, pinned, origin)
  WHERE about = 'project';
CREATE INDEX memories_captured
  ON memories (scope_no, created_at, no, trust, deleted_at, valid_from, valid_until, pinned, kind)
  WHERE origin = 'session';
