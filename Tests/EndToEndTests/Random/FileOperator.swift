import TestSupport

/// Another process that does to a database's files what people and programs do to them.
///
/// One word of its vocabulary a line, with arguments; the answer is a line of JSON.
final class FileOperator {
  private let process: ChildProcess

  /// A process for one folder, in which it makes what it needs.
  init(_ folder: String) throws {
    process = try ChildProcess("python3", ["-u", "-c", Self.program, folder])
  }

  /// Does something, and returns what came of it.
  @discardableResult
  func perform(_ words: String) throws -> JSONValue {
    try process.write(words + "\n")
    guard let line = try process.output.next() else {
      throw ContractViolation("the operator has ended: \(try process.errors.rest())")
    }
    let answer = try JSONValue(parsing: Array(line.utf8))
    if let failure = answer["crash"].string { throw ContractViolation("\(words): \(failure)") }
    return answer
  }

  /// `live` is the file that the link leads to. No connection outlives its word, and no file is
  /// opened beside a connection: that would drop the connection's locks.
  private static let program = #"""
    import json, os, shutil, signal, sqlite3, sys, time, traceback

    folder = sys.argv[1]
    link = folder + "/music.sqlite"
    backup = folder + "/backup.sqlite"
    away = folder + "/away"
    names = {"main": "", "log": "-wal", "index": "-shm", "journal": "-journal"}

    def live(): return os.path.join(folder, os.readlink(link))

    def connect(path, timeout=5.0):
        connection = sqlite3.connect(path, isolation_level=None, timeout=timeout)
        # A torn page may hold anything; the server repairs text as this does.
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        # Nothing here survives a power failure, nor has to.
        try: connection.execute("PRAGMA synchronous = OFF").fetchall()
        except sqlite3.Error:
            # An exception keeps what it comes from alive for a while, with its locks.
            connection.close()
            raise
        return connection

    def statements(path, *all, timeout=0.5):
        connection = connect(path, timeout)
        try:
            for sql in all: connection.execute(sql).fetchall()
            return {}
        except sqlite3.Error as error:
            return {"error": str(error)}
        finally:
            connection.close()

    def remove(path):
        if os.path.lexists(path): os.remove(path)

    def make(path, mode, first, count):
        for suffix in names.values(): remove(path + suffix)
        rows = f"WITH RECURSIVE n(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i < {first + count - 1})"
        return statements(path, "PRAGMA page_size = 512", f"PRAGMA journal_mode = {mode}",
            "CREATE TABLE item (id INTEGER PRIMARY KEY, text)",
            f"INSERT INTO item {rows} SELECT i, 'row ' || i FROM n")

    def read():
        connection = None
        try:
            connection = connect(link)
            return {"rows": connection.execute("SELECT id, text FROM item ORDER BY id").fetchall()}
        except (sqlite3.Error, OSError) as error:
            return {"error": str(error)}
        finally:
            if connection: connection.close()

    def is_sound():
        connection = connect(link)
        try: return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        except sqlite3.Error: return False
        finally: connection.close()

    def kill(rows):
        child = os.fork()
        if child == 0:
            try:
                connection = connect(link)
                connection.execute("PRAGMA cache_size = 3")
                connection.execute("BEGIN IMMEDIATE")
                for i in range(int(rows)):
                    connection.execute("INSERT INTO item (text) VALUES (hex(randomblob(200)))")
                    connection.execute("UPDATE item SET text = text || '!' WHERE id % 7 = ?", (i % 7,))
            finally:
                os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
        return {}

    def copy(to, source=backup):
        # As cp does: the same inode, emptied and filled.
        with open(source, "rb") as reading, open(to, "wb") as writing:
            shutil.copyfileobj(reading, writing, 4096)

    def do(word, *rest):
        if word == "make": return make(live(), rest[0], int(rest[1]), int(rest[2]))
        if word == "makeBackup": return make(backup, rest[0], int(rest[1]), int(rest[2]))
        if word == "read": return read()
        if word == "check": return {"isSound": is_sound()}
        if word == "run": return statements(link, *" ".join(rest).split(";"))
        if word == "write": return statements(link, f"INSERT INTO item (text) VALUES ('{rest[0]}')", timeout=0.1)
        if word == "vacuumInto":
            for suffix in names.values(): remove(backup + suffix)
            result = statements(link, f"VACUUM INTO '{backup}'")
            return result if result else statements(backup, f"PRAGMA journal_mode = {rest[0]}")
        if word == "copyOut":
            for name in rest:
                if os.path.exists(live() + names[name]): copy(backup + names[name], live() + names[name])
                else: remove(backup + names[name])
            return {}
        if word == "restore":
            source, target = connect(backup), connect(link, 0.5)
            try: source.backup(target)
            except sqlite3.Error as error: return {"error": str(error)}
            finally: target.close(); source.close()
            return {}
        if word == "moveIn":
            for name in rest:
                if os.path.exists(backup + names[name]): os.rename(backup + names[name], live() + names[name])
            return {}
        if word == "copyIn":
            for name in rest:
                if os.path.exists(backup + names[name]): copy(live() + names[name], backup + names[name])
            return {}
        if word == "remove":
            for name in rest: remove(live() + names[name])
            return {}
        if word == "awayAndBack":
            moved = [n for n in rest[1:] if os.path.exists(live() + names[n])]
            for name in moved: os.rename(live() + names[name], away + names[name])
            time.sleep(int(rest[0]) / 1000)
            for name in moved: os.rename(away + names[name], live() + names[name])
            return {}
        if word == "held":
            connection = connect(link)
            try:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("INSERT INTO item (text) VALUES ('held')")
                do(*rest)
                connection.execute("COMMIT")
            except sqlite3.Error as error: return {"error": str(error)}
            finally: connection.close()
            return {}
        if word == "truncate":
            path = live() + names[rest[0]]
            if os.path.exists(path): os.truncate(path, os.path.getsize(path) * int(rest[1]) // 100 // 512 * 512)
            return {}
        if word == "garbage":
            with open(backup + ".noise", "wb") as file: file.write(os.urandom(4096))
            copy(live(), backup + ".noise")
            return {}
        if word == "switch":
            remove(link + ".new")
            os.symlink("b/real.sqlite" if os.readlink(link).startswith("a/") else "a/real.sqlite", link + ".new")
            os.rename(link + ".new", link)
            return {}
        if word == "moveFolder":
            side = os.path.dirname(live())
            os.rename(side, side + ".away")
            time.sleep(int(rest[0]) / 1000)
            os.rename(side + ".away", side)
            return {}
        if word == "mode":
            os.chmod(live(), int(rest[0], 8))
            return {}
        if word == "kill": return kill(rest[0])
        if word == "sleep":
            time.sleep(int(rest[0]) / 1000)
            return {}
        raise ValueError("an unknown word")

    for side in "ab": os.makedirs(folder + "/" + side, exist_ok=True)
    os.symlink("a/real.sqlite", link)
    for line in sys.stdin:
        try: answer = do(*line.split())
        except sqlite3.Error as error: answer = {"error": str(error)}
        except Exception: answer = {"crash": traceback.format_exc()}
        print(json.dumps(answer), flush=True)
    """#
}
