-- The record. Paths are BLOBs: a file name is any bytes, and SQLite text is not.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE documents (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  path           BLOB    NOT NULL UNIQUE,          -- relative to the watched folder
  folder         BLOB    NOT NULL,                 -- its directory, '' at the top; see folders
  size           INTEGER NOT NULL,
  mtime_ns       INTEGER NOT NULL,
  inode          INTEGER NOT NULL,
  uid            INTEGER NOT NULL,
  gid            INTEGER NOT NULL,
  mode           INTEGER NOT NULL,                 -- permission bits only
  sha256         TEXT    NOT NULL DEFAULT '',      -- of the bytes that the state speaks of; '' while never read
  state          TEXT    NOT NULL,
  reason         TEXT    NOT NULL DEFAULT '',
  format         TEXT    NOT NULL DEFAULT '',
  title          TEXT    NOT NULL DEFAULT '',
  n_pages        INTEGER,
  n_chunks       INTEGER NOT NULL DEFAULT 0,
  parser_version INTEGER NOT NULL DEFAULT 0,
  n_attempts     INTEGER NOT NULL DEFAULT 0,       -- starts of parsing that no outcome followed
  added_s        REAL    NOT NULL,
  updated_s      REAL    NOT NULL,
  queued_s       REAL    NOT NULL,                 -- place in the queue while waiting
  notes          TEXT    NOT NULL DEFAULT '[]'     -- JSON array of sentences: what was left out or read less well
);
CREATE INDEX documents_state ON documents (state, queued_s);
CREATE INDEX documents_sha256 ON documents (sha256);

-- Who may enter which sub-folder: a readable file in a closed folder is not readable.
CREATE TABLE folders (
  path BLOB PRIMARY KEY,
  uid  INTEGER NOT NULL,
  gid  INTEGER NOT NULL,
  mode INTEGER NOT NULL
) WITHOUT ROWID;

-- AUTOINCREMENT: an id that once meant a text never means another, in Chroma or in a conversation.
CREATE TABLE chunks (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
  ordinal     INTEGER NOT NULL,
  text        TEXT    NOT NULL,
  heading     TEXT    NOT NULL,                    -- title and headings, searched with less weight
  locator     TEXT    NOT NULL,                    -- JSON of ingest.locator.Locator
  n_tokens    INTEGER NOT NULL,
  flags       TEXT    NOT NULL DEFAULT '[]',       -- JSON array
  digest      BLOB    NOT NULL,                    -- of the text that was embedded: the same text is embedded once
  text_digest BLOB    NOT NULL DEFAULT x''         -- of `text`: the same text under several names is found by it
);
CREATE INDEX chunks_document ON chunks (document_id, ordinal);
CREATE INDEX chunks_digest ON chunks (digest);
CREATE INDEX chunks_text_digest ON chunks (text_digest);

CREATE VIRTUAL TABLE chunks_fts USING fts5 (
  text, heading,
  content = 'chunks', content_rowid = 'id',
  tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TRIGGER chunks_added AFTER INSERT ON chunks BEGIN
  INSERT INTO chunks_fts (rowid, text, heading) VALUES (new.id, new.text, new.heading);
END;
CREATE TRIGGER chunks_removed AFTER DELETE ON chunks BEGIN
  INSERT INTO chunks_fts (chunks_fts, rowid, text, heading) VALUES ('delete', old.id, old.text, old.heading);
END;

CREATE TABLE embedders (
  id          INTEGER PRIMARY KEY,
  fingerprint TEXT    NOT NULL UNIQUE,
  n_dims      INTEGER NOT NULL
);

-- float16, little endian, L2-normalised. A table of its own, so that several embedders can coexist.
CREATE TABLE vectors (
  chunk_id    INTEGER NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,
  embedder_id INTEGER NOT NULL REFERENCES embedders (id),
  vector      BLOB    NOT NULL,
  PRIMARY KEY (chunk_id, embedder_id)
) WITHOUT ROWID;

-- What the followers of the vectors (Chroma, the matrix in memory) have to do next. Kept by triggers, so that it
-- cannot disagree with the vectors.
CREATE TABLE changes (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT,
  embedder_id INTEGER NOT NULL,
  chunk_id    INTEGER NOT NULL,
  gone        INTEGER NOT NULL
);
CREATE TRIGGER vectors_added AFTER INSERT ON vectors BEGIN
  INSERT INTO changes (embedder_id, chunk_id, gone) VALUES (new.embedder_id, new.chunk_id, 0);
END;
CREATE TRIGGER vectors_removed AFTER DELETE ON vectors BEGIN
  INSERT INTO changes (embedder_id, chunk_id, gone) VALUES (old.embedder_id, old.chunk_id, 1);
END;

-- Pages of an unfinished document that took long to read (OCR): a stop resumes at the next page.
CREATE TABLE page_texts (
  sha256         TEXT    NOT NULL,                 -- of the outer file
  part           TEXT    NOT NULL,                 -- key of the file inside it; '' for the file itself
  page           INTEGER NOT NULL,
  reader_version INTEGER NOT NULL,
  units          TEXT    NOT NULL,                 -- JSON array of ingest.unit.Unit
  PRIMARY KEY (sha256, part, page, reader_version)
) WITHOUT ROWID;
