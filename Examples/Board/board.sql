PRAGMA journal_mode = WAL;
CREATE TABLE card (id INTEGER PRIMARY KEY, title TEXT NOT NULL CHECK (title <> ''),
  list INTEGER NOT NULL CHECK (list BETWEEN 1 AND 3), position REAL NOT NULL);
CREATE INDEX card_position ON card (list, position);
INSERT INTO card (title, list, position) VALUES ('Wake up', 1, 1), ('Have tea', 1, 2), ('Feed the cat', 2, 1);
