-- From version 1: notes of a document, pages read before a stop, and the same text under several names.

ALTER TABLE documents ADD COLUMN notes TEXT NOT NULL DEFAULT '[]';

ALTER TABLE chunks ADD COLUMN text_digest BLOB NOT NULL DEFAULT x'';
UPDATE chunks SET text_digest = digest_of(text);
CREATE INDEX chunks_text_digest ON chunks (text_digest);

CREATE TABLE page_texts (
  sha256         TEXT    NOT NULL,
  part           TEXT    NOT NULL,
  page           INTEGER NOT NULL,
  reader_version INTEGER NOT NULL,
  units          TEXT    NOT NULL,
  PRIMARY KEY (sha256, part, page, reader_version)
) WITHOUT ROWID;
