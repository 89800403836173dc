"""An app that writes to an SQLite database a few times a second and knows nothing of didchange."""

import random
import sqlite3
import sys
import time

database = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=5)
database.execute("PRAGMA journal_mode = WAL")
database.execute(
    "CREATE TABLE IF NOT EXISTS player (id INTEGER PRIMARY KEY, name TEXT, team TEXT, score INTEGER)")
for number, name in enumerate(["Ada", "Barbara", "Cyd", "Dora", "Eve", "Fay", "Grace", "Hedy"], 1):
    team = random.choice(["Blue", "Green", "Red"])
    database.execute("INSERT OR IGNORE INTO player VALUES (?, ?, ?, 0)", (number, name, team))

while True:
    player = random.randint(1, 8)
    if random.random() < 0.2:
        team = random.choice(["Blue", "Green", "Red"])
        database.execute("UPDATE player SET team = ? WHERE id = ?", (team, player))
    else:
        database.execute("UPDATE player SET score = score + 1 WHERE id = ?", (player,))
    time.sleep(0.3)
