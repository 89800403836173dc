import CCurl
import Foundation
import TestSupport
import Testing

@Suite(.endToEnd) struct `didchange serve, when things break` {
  private let folder: TemporaryFolder
  private let database: Database
  private let path = "/v1/queries/player/events"

  init() throws {
    folder = try TemporaryFolder()
    database = try .make(folder.file("music.sqlite"), Teams.schema, journal: .wal)
  }

  @Test func `goes on while nobody takes its log`() throws {
    let command = try Command.serve([database.path], under: ["python3", "-c", Self.fullPipe])
    let client = HTTPClient(command.base)
    for _ in 0..<30 {
      #expect(rename(database.path, folder.file("away")) == 0)
      try eventually("the loss") { try client.get("/readyz").status == 503 }
      #expect(rename(folder.file("away"), database.path) == 0)
      try eventually("the return") { try client.get("/readyz").status == 200 }
    }
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
  }

  /// Runs a program whose standard error is a pipe that nobody reads, of 4 KiB: man 7 pipe.
  private static let fullPipe = """
    import fcntl, os, sys
    reading, writing = os.pipe()
    fcntl.fcntl(writing, 1031, 4096)
    os.set_inheritable(reading, True)
    os.dup2(writing, 2)
    os.execv(sys.argv[1], sys.argv[1:])
    """

  @Test func `is killed and started again, and its clients come back`() throws {
    let first = try Command.serve([database.path])
    let before = Follower(EventStream(first.base, path))
    try before.expectSnapshot()
    let writer = try ForeignWriter(database.path)
    try writer.commit("UPDATE player SET score = 1 WHERE id = 1")
    _ = try before.changes()
    try first.process.kill9()
    #expect(try before.stream.end() != CURLE_OK)
    try writer.commit("DELETE FROM player WHERE id = 2")
    let second = try Command.serve([database.path], port: first.port)
    #expect(second.base == first.base)
    let after = Follower(
      EventStream(second.base, path, .init(lastEventID: before.model.version)),
      model: before.model)
    try after.expectSnapshot()
    #expect(after.model.records.map(\.key) == [[1], [3], [4], [5], [6]])
    try writer.commit("DELETE FROM player WHERE id = 3")
    #expect(try after.changes().count == 1)
  }

  /// The cache may be older than what clients were told of since: they begin anew, and nobody is
  /// sent a change set that leads from another state than theirs.
  @Test func `is killed with a cache that is older than its clients`() throws {
    // More records, so that a snapshot is longer than what was missed.
    try database.execute(Teams.others(100))
    let file = try folder.write(
      """
      database: music.sqlite
      timeouts: {linger: 0}
      queries:
        player: {table: player, cache: true}
      """, to: "didchange.yaml")
    let first = try Command.serve(["--config", file])
    let early = Follower(EventStream(first.base, path))
    try early.expectSnapshot()
    let writer = try ForeignWriter(database.path)
    try writer.commit("UPDATE player SET score = 1 WHERE id = 1")
    _ = try early.changes()
    early.stream.close()
    let cache = folder.file("music.sqlite-fetched-player")
    try eventually("the cache is written") {
      try HTTPClient(first.base).get("/healthz").status == 200
        && FileManager.default.fileExists(atPath: cache)
    }
    let late = Follower(EventStream(first.base, path))
    try late.expectSnapshot()
    try writer.commit("DELETE FROM player WHERE id = 2")
    _ = try late.changes()
    try first.process.kill9()
    try writer.commit("DELETE FROM player WHERE id = 3")
    let second = try Command.serve(["--config", file])
    let goesOn = Follower(
      EventStream(second.base, path, .init(lastEventID: early.model.version)), model: early.model)
    #expect(try goesOn.changes().count == 2)
    let beginsAnew = Follower(
      EventStream(second.base, path, .init(lastEventID: late.model.version)), model: late.model)
    try beginsAnew.expectSnapshot()
    for follower in [goesOn, beginsAnew] {
      #expect(follower.model.records.prefix(4).map(\.key) == [[1], [4], [5], [6]])
    }
  }

  @Test func `loses its database and gets it back`() throws {
    let command = try Command.serve([database.path])
    let follower = Follower(EventStream(command.base, path))
    try follower.expectSnapshot()
    try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    let copy = folder.file("copy.sqlite")
    try FileManager.default.copyItem(atPath: database.path, toPath: copy)
    try Database(path: copy).execute(
      "DELETE FROM player WHERE id = 6; PRAGMA wal_checkpoint(TRUNCATE)")
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: database.path + suffix)
    }
    try command.waitForLog("is gone")
    #expect(try HTTPClient(command.base).get("/healthz").status == 200)
    try FileManager.default.moveItem(atPath: copy, toPath: database.path)
    #expect(try follower.changesAfterFailures().count == 1)
    #expect(follower.model.records.count == 5)
  }

  @Test func `finds something else where its database was`() throws {
    let command = try Command.serve([database.path])
    let follower = Follower(EventStream(command.base, path))
    try follower.expectSnapshot()
    try database.execute("DELETE FROM player WHERE id = 6; PRAGMA wal_checkpoint(TRUNCATE)")
    _ = try follower.changes()
    let copy = folder.file("copy.sqlite")
    try FileManager.default.copyItem(atPath: database.path, toPath: copy)
    try Database(path: copy).execute(
      "DELETE FROM player WHERE id = 5; PRAGMA wal_checkpoint(TRUNCATE)")
    let noise = try folder.write(String(repeating: "no database ", count: 2000), to: "noise")
    #expect(rename(noise, database.path) == 0)
    try command.waitForLog("cannot read the database: file is not a database")
    #expect(try follower.failure()["status"] == 503)
    let refused = try HTTPClient(command.base).get("/v1/queries/player/records")
    #expect(refused.status == 503)
    #expect(refused.head["Retry-After"] == "1")
    for suffix in ["-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: database.path + suffix)
    }
    #expect(rename(copy, database.path) == 0)
    try command.waitForLog("can be read again")
    #expect(try follower.changesAfterFailures().count == 1)
    #expect(follower.model.records.count == 4)
  }

  @Test func `has no descriptor left for more clients`() throws {
    let command = try Command.serve(
      [database.path], under: ["/bin/sh", "-c", "ulimit -n 64; exec \"$0\" \"$@\""])
    let first = Follower(EventStream(command.base, path))
    try first.expectSnapshot()
    let others = try ChildProcess("python3", ["-c", Self.crowd, command.port])
    #expect(try others.output.next() == "connected")
    try command.waitForLog("accepting pauses")
    // Those that are in live on.
    let writer = try ForeignWriter(database.path)
    try writer.commit("DELETE FROM player WHERE id = 1")
    #expect(try first.changes().count == 1)
    try others.kill9()
    try command.waitForLog("accepting goes on")
    #expect(
      try HTTPClient(command.base).get("/v1/queries/player/records").json["numberOfRecords"] == 5)
    try writer.commit("DELETE FROM player WHERE id = 2")
    #expect(try first.changes().count == 1)
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
  }

  @Test func `has few descriptors, and many connections that are idle`() throws {
    let command = try Command.serve(
      [database.path], under: ["/bin/sh", "-c", "ulimit -n 64; exec \"$0\" \"$@\""])
    let clients = (0..<200).map { _ in HTTPClient(command.base) }
    for client in clients {
      #expect(try client.get("/v1/queries/player/records").status == 200)
    }
    let metrics = try HTTPClient(command.base).get("/metrics").text
    // None had to wait: others went, and not all of them.
    #expect(metrics.contains("\ndidchange_accept_pauses_total 0\n"))
    let match = try #require(
      metrics.firstMatch(of: /didchange_idle_connections_closed_total ([0-9]+)/))
    let closed = try #require(Int(match.1))
    #expect((150...195).contains(closed), "\(closed)")
    // The database can be opened beside them.
    let follower = Follower(EventStream(command.base, path))
    try follower.expectSnapshot()
    try ForeignWriter(database.path).commit("DELETE FROM player WHERE id = 1")
    #expect(try follower.changes().count == 1)
    // Whose connection was closed opens another.
    for client in clients { #expect(try client.get("/healthz").status == 200) }
  }

  /// Whoever comes behind them waits for them to be closed, which is done in few looks.
  @Test func `has few descriptors, and many connections that say nothing`() throws {
    let command = try Command.serve(
      [database.path], under: ["/bin/sh", "-c", "ulimit -n 64; exec \"$0\" \"$@\""])
    let silent = try ChildProcess("python3", ["-c", Self.silent, command.port])
    #expect(try silent.output.next() == "connected")
    let client = HTTPClient(command.base)
    #expect(try client.get("/v1/queries/player/records").status == 200)
    let metrics = try client.get("/metrics").text
    let match = try #require(metrics.firstMatch(of: /didchange_accept_pauses_total ([0-9]+)/))
    let pauses = try #require(Int(match.1))
    #expect(pauses < 25)
  }

  /// Two hundred clients that ask for nothing.
  private static let silent = """
    import socket, sys, time
    port = int(sys.argv[1])
    clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(200)]
    print("connected", flush=True)
    time.sleep(1000)
    """

  /// Eighty clients that ask for a stream and read nothing.
  private static let crowd = """
    import socket, sys, time
    port = int(sys.argv[1])
    clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(80)]
    for client in clients:
        client.sendall(b"GET /v1/queries/player/events HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n")
    print("connected", flush=True)
    time.sleep(1000)
    """

  /// The clock of the server alone: it asks a library that stands before the system's.
  @Test(.enabled(if: ClockShim.isAvailable))
  func `finds its clock set back`() throws {
    let shim = try ClockShim(folder)
    try shim.set(secondsBack: 0)
    let command = try Command.serve([database.path, "--log-level", "info"], under: shim.command)
    let follower = Follower(EventStream(command.base, path))
    try follower.expectSnapshot()
    let writer = try ForeignWriter(database.path)
    let client = HTTPClient(command.base)
    let before = try client.get("/healthz").head["Date"]
    for secondsBack in [86_400, -86_400, 400_000_000] {
      try shim.set(secondsBack: secondsBack)
      try writer.commit("UPDATE player SET score = score + 1 WHERE id = 1")
      #expect(try follower.changes().count == 1)
      let answer = try client.get("/v1/queries/player/records?limit=1")
      #expect(answer.status == 200)
      #expect(answer.head["Date"] != nil)
      #expect(answer.head["Date"] != before)
      let again = try client.get(
        "/v1/queries/player/records?limit=1", ["If-None-Match: \(answer.head["ETag"] ?? "")"])
      #expect(again.status == 304)
    }
    command.process.signal(SIGTERM)
    #expect(try command.process.exitCode() == 0)
  }
}

/// A library that tells a program another time, once it is told so itself.
private struct ClockShim {
  private let library: String
  private let file: String

  static let isAvailable =
    FileManager.default.isExecutableFile(atPath: "/usr/bin/cc")
    && FileManager.default.fileExists(atPath: "/proc/self")

  init(_ folder: TemporaryFolder) throws {
    library = folder.file("clock.so")
    file = folder.file("clock")
    let source = try folder.write(Self.source, to: "clock.c")
    let result = try ChildProcess.run(
      "/usr/bin/cc", ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"])
    guard result.exitCode == 0 else { throw ContractViolation(result.errors) }
  }

  var command: [String] {
    // Beside what the tests themselves were started with.
    let others = ProcessInfo.processInfo.environment["LD_PRELOAD"].map { " \($0)" } ?? ""
    return ["/usr/bin/env", "LD_PRELOAD=\(library)\(others)", "CLOCK_FILE=\(file)"]
  }

  func set(secondsBack: Int) throws {
    try Data("\(secondsBack)\n".utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
  }

  private static let source = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <fcntl.h>
    #include <stdlib.h>
    #include <sys/time.h>
    #include <time.h>
    #include <unistd.h>

    static long back(void) {
      char text[32] = {0};
      int file = open(getenv("CLOCK_FILE"), O_RDONLY | O_CLOEXEC);
      if (file < 0) return 0;
      ssize_t count = read(file, text, sizeof text - 1);
      close(file);
      return count > 0 ? atol(text) : 0;
    }
    int clock_gettime(clockid_t clock, struct timespec *result) {
      static int (*real)(clockid_t, struct timespec *);
      if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
      int code = real(clock, result);
      if (clock == CLOCK_REALTIME) result->tv_sec -= back();
      return code;
    }
    time_t time(time_t *result) {
      struct timespec now;
      clock_gettime(CLOCK_REALTIME, &now);
      if (result) *result = now.tv_sec;
      return now.tv_sec;
    }
    int gettimeofday(struct timeval *restrict result, void *restrict zone) {
      struct timespec now;
      clock_gettime(CLOCK_REALTIME, &now);
      result->tv_sec = now.tv_sec;
      result->tv_usec = now.tv_nsec / 1000;
      return 0;
    }
    """
}
