PRAGMA journal_mode = WAL;
CREATE TABLE person (id TEXT PRIMARY KEY, name TEXT NOT NULL CHECK (name <> ''));
CREATE TABLE message (id INTEGER PRIMARY KEY, room TEXT NOT NULL, author TEXT NOT NULL REFERENCES person,
  text TEXT NOT NULL CHECK (text <> ''), sent DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP);
CREATE INDEX message_room ON message (room, id);
INSERT INTO person VALUES ('ada', 'Ada'), ('bob', 'Bob');
INSERT INTO message (room, author, text) VALUES
  ('tea', 'ada', 'Is the kettle on?'), ('tea', 'bob', 'It is.'), ('cake', 'bob', 'All gone.');
