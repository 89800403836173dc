"""A shop where people sign in, see their orders, and place more. It knows nothing of didchange.

Sessions are rows of a table, as Rails, Laravel and Django have them. The cookie holds a random token
and the table its SHA-256: who reads the database, or a copy of it, cannot sign in with what is there.
A real shop has a framework, TLS, and a limit for those who guess passwords.

    app.py DATABASE [HOST:PORT]
"""

import hashlib
import hmac
import html
import pathlib
import secrets
import sqlite3
import string
import sys
import time
import urllib.parse
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SCHEMA = """
    PRAGMA journal_mode = WAL;
    CREATE TABLE IF NOT EXISTS user (
        id INTEGER PRIMARY KEY, name TEXT UNIQUE, role TEXT, salt BLOB, password BLOB);
    CREATE TABLE IF NOT EXISTS session (
        token TEXT PRIMARY KEY, user INTEGER REFERENCES user, expires INTEGER);
    CREATE TABLE IF NOT EXISTS orders (
        id INTEGER PRIMARY KEY, customer INTEGER REFERENCES user, item TEXT);
    CREATE INDEX IF NOT EXISTS ordersOfCustomer ON orders (customer);
"""
# For a look. Name, role, password.
USERS = [("ada", "customer", "lovelace"), ("bob", "customer", "builder"),
         ("grace", "admin", "hopper")]
SESSION_SECONDS = 7 * 24 * 60 * 60
LONGEST_FORM = 4096
HERE = pathlib.Path(__file__).parent


def connect():
    return closing(sqlite3.connect(sys.argv[1], timeout=5))


def make_database():
    with connect() as database, database:
        database.executescript(SCHEMA)
        if database.execute("SELECT 1 FROM user").fetchone():
            return
        for name, role, password in USERS:
            salt = secrets.token_bytes(16)
            database.execute("INSERT INTO user (name, role, salt, password) VALUES (?, ?, ?, ?)",
                             (name, role, salt, hashed(password, salt)))


def hashed(password, salt):
    # https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html#scrypt
    return hashlib.scrypt(password.encode(), salt=salt, n=2**14, r=8, p=5)


def digest(token):
    return hashlib.sha256(token.encode()).hexdigest()


class Shop(BaseHTTPRequestHandler):
    def do_GET(self):
        user = self.user()
        if self.path == "/orders.js":
            self.answer(200, (HERE / "orders.js").read_bytes(), "text/javascript")
        elif self.path != "/":
            self.answer(404)
        elif user:
            self.page(200, "orders.html", name=user["name"], role=user["role"])
        else:
            self.page(200, "sign-in.html", problem="")

    def do_POST(self):
        paths = {"/sign-in": self.sign_in, "/sign-out": self.sign_out, "/orders": self.order}
        length = self.headers.get("Content-Length", "")
        if self.path not in paths:
            return self.answer(404)
        if not length.isdecimal() or int(length) > LONGEST_FORM:
            return self.answer(413)
        # A page of another site can make a browser send a form, but not hide that it did. The cookie's
        # SameSite keeps other sites out as well, but not a neighbour such as blog.example.org.
        scheme = self.headers.get("X-Forwarded-Proto", "http")
        if self.headers.get("Origin") != f"{scheme}://{self.headers.get('Host')}":
            return self.answer(403)
        form = urllib.parse.parse_qs(self.rfile.read(int(length)).decode(errors="replace"))
        paths[self.path]({name: values[0] for name, values in form.items()})

    def sign_in(self, form):
        token = secrets.token_urlsafe(32)
        now = int(time.time())
        with connect() as database, database:
            row = database.execute("SELECT id, salt, password FROM user WHERE name = ?",
                                   (form.get("name"),)).fetchone()
            # Takes as long for a name that nobody has.
            user, salt, password = row or (None, bytes(16), b"")
            if not hmac.compare_digest(hashed(form.get("password", ""), salt), password):
                return self.page(403, "sign-in.html", problem="Name or password is wrong.")
            # Whoever was signed in here before is so no more, in other tabs neither.
            database.execute("DELETE FROM session WHERE token = ? OR expires < ?", (self.token(), now))
            database.execute("INSERT INTO session VALUES (?, ?, ?)",
                             (digest(token), user, now + SESSION_SECONDS))
        self.go_home(token, SESSION_SECONDS)

    def sign_out(self, _):
        with connect() as database, database:
            database.execute("DELETE FROM session WHERE token = ?", (self.token(),))
        self.go_home("", 0)

    def order(self, form):
        user, item = self.user(), form.get("item", "").strip()
        if not user:
            return self.answer(401)
        if not 0 < len(item) <= 100:
            return self.answer(422)
        with connect() as database, database:
            database.execute("INSERT INTO orders (customer, item) VALUES (?, ?)", (user["id"], item))
        # The page stays; its list hears of the commit.
        self.answer(204)

    def token(self):
        """The digest of what the cookie says; None, which equals nothing in SQL, without one."""
        pairs = self.headers.get("Cookie", "").split(";")
        cookies = dict(pair.strip().split("=", 1) for pair in pairs if "=" in pair)
        return digest(cookies["session"]) if "session" in cookies else None

    def user(self):
        with connect() as database:
            database.row_factory = sqlite3.Row
            return database.execute(
                "SELECT user.* FROM session JOIN user ON user.id = session.user"
                " WHERE token = ? AND expires > ?",
                (self.token(), int(time.time()))).fetchone()

    def page(self, status, file, **values):
        values = {name: html.escape(value) for name, value in values.items()}
        text = string.Template((HERE / file).read_text()).substitute(values)
        self.answer(status, text.encode(), "text/html; charset=utf-8")

    def go_home(self, token, seconds):
        secure = "; Secure" if self.headers.get("X-Forwarded-Proto") == "https" else ""
        self.answer(303, Location="/", Set_Cookie=f"session={token}; Path=/; Max-Age={seconds}; "
                    f"HttpOnly; SameSite=Lax{secure}")

    def answer(self, status, body=b"", kind=None, **headers):
        self.send_response(status)
        if kind:
            self.send_header("Content-Type", kind)
            self.send_header("Cache-Control", "no-store")
            self.send_header("Content-Security-Policy",
                             "default-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


make_database()
host, port = (sys.argv[2] if len(sys.argv) > 2 else "127.0.0.1:8000").rsplit(":", 1)
ThreadingHTTPServer((host, int(port)), Shop).serve_forever()
