"""A chat: makes its database, starts didchange beside itself, serves its page and writes what people do."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qsl

HERE = Path(__file__).resolve().parent
DATABASE = HERE / "chat.sqlite"
PORT = 8000
ORIGIN = f"http://127.0.0.1:{PORT}"

# What the page may do.
ACTIONS = {
    "/say": [
        "INSERT INTO person VALUES (:person, :name) ON CONFLICT (id) DO UPDATE SET name = :name WHERE name <> :name",
        "INSERT INTO message (room, author, text) VALUES (:room, :person, :text)",
    ],
}


class App(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path != "/":
            return self.answer(404)
        self.answer(200, (HERE / "chat.html").read_bytes())

    def do_POST(self):
        if self.headers["Origin"] != ORIGIN:  # No page of another site writes here.
            return self.answer(403)
        if self.path not in ACTIONS:
            return self.answer(404)
        try:
            length = int(self.headers["Content-Length"] or 0)
            form = dict(parse_qsl(self.rfile.read(min(length, 10_000)).decode()))
            with closing(sqlite3.connect(DATABASE, timeout=5)) as database, database:
                for statement in ACTIONS[self.path]:
                    database.execute(statement, form)
        except (ValueError, sqlite3.Error) as error:
            return self.answer(400, str(error).encode())
        self.answer(204)

    def answer(self, status, body=b""):
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8" if status == 200 else "text/plain")
        if status != 204:
            self.send_header("Content-Length", len(body))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if not DATABASE.exists():
    with closing(sqlite3.connect(DATABASE)) as database:
        database.executescript((HERE / "chat.sql").read_text())
app = ThreadingHTTPServer(("127.0.0.1", PORT), App)
Thread(target=app.serve_forever, daemon=True).start()
print(f"the chat is at {ORIGIN}/", flush=True)
try:
    didchange = subprocess.Popen([os.environ.get("DIDCHANGE", "didchange"), "--config", HERE / "chat.yaml"])
except FileNotFoundError as error:
    sys.exit(f"{error.filename} is not installed: DIDCHANGE says where it is")
try:
    sys.exit(didchange.wait())
except KeyboardInterrupt:  # Ctrl-C reaches both.
    didchange.wait()
