import ArgumentParser
import Crypto
import Foundation
import GRDB

/// A server with a table of people and their orders, and streams of some of these people, each with a
/// query of its own.
final class CallersServer {
  /// Rows of `session`: the tables are the same whoever has a stream.
  private static let people = 10_000

  private static let schema = """
    CREATE TABLE session (token TEXT PRIMARY KEY, user INTEGER, role TEXT, expires INTEGER);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, product TEXT, amount INTEGER);
    CREATE INDEX orderByCustomer ON orders(customer);
    WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 3 * \(people) + 2)
    INSERT INTO orders SELECT i, i / 3, 'Product ' || (i % 40), i % 1000 FROM n;
    """

  private static let callers = """
    callers:
      opaque: true
      claims: SELECT user, role, expires FROM session WHERE token = :token

    """

  /// One machine may take what else a thousand of them share.
  private static let limits = """
    limits: {controllers: 200000, connections: 100000, connectionsPerAddress: 100000, \
    streamsPerAddress: 100000, queriesPerAddress: 200000}
    """

  let count: Int
  let hasCallers: Bool
  private let crowd: StreamCrowd
  private let database: SampleDatabase
  private let server: ServerProcess
  private var streams: [StreamCrowd.Member] = []
  private var nextValue = 1_000_000
  private var nextPerson = 0
  /// How often each person has signed in.
  private var signIns: [Int: Int] = [:]

  private(set) var figures: CallersFigures

  /// - Parameters:
  ///   - executable: of the product.
  ///   - hasCallers: whether the server tells people apart; else whoever asks names the customer.
  ///   - count: people who will have a stream.
  ///   - crowd: reads them.
  /// - Throws: where the server does not start.
  init(_ executable: String, hasCallers: Bool, count: Int, crowd: StreamCrowd) throws {
    (self.hasCallers, self.count, self.crowd) = (hasCallers, count, crowd)
    figures = CallersFigures(streams: count)
    database = try SampleDatabase(rows: 1)
    try database.write(Self.schema)
    let customer = hasCallers ? "{type: integer, claim: user}" : "{type: integer}"
    server = try ServerProcess(
      executable, database: database.path,
      queries: """
        orders:
          table: orders
          fields: [id, product, amount]
          where: customer = :customer
          order: [id]
          parameters: {customer: \(customer)}
        """, settings: (hasCallers ? Self.callers : "") + Self.limits)
    try database.writer.write { db in
      for person in 1...Self.people { try signIn(person, in: db) }
    }
  }

  private func signIn(_ person: Int, in db: Database) throws {
    signIns[person, default: 0] += 1
    let digest = SHA256.hash(data: Data(token(of: person).utf8))
      .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    try db.execute(
      sql: "INSERT INTO session VALUES (?, ?, 'customer', 4000000000)",
      arguments: [digest, person])
  }

  /// Another one each time that they sign in.
  private func token(of person: Int) -> String {
    "session-7f3c0de8a15b-\(person)-\(signIns[person] ?? 0)"
  }

  // MARK: - Streams

  private func open(_ person: Int) throws -> StreamCrowd.Member {
    let stream = try crowd.open(
      "/v1/queries/orders/events" + (hasCallers ? "" : "?customer=\(person)"), port: server.port,
      // Each address has ports for some 28 000 connections.
      from: UInt8(1 + person / 5000),
      fields: hasCallers ? "Authorization: Bearer \(token(of: person))\r\n" : "")
    crowd.await(["event: snapshot"], on: stream)
    return stream
  }

  /// Opens all streams, so many at the same time, until each has begun its snapshot.
  func openAll(atOnce most: Int) throws {
    let (cpu, start) = (server.cpuTime, ContinuousClock.now)
    for person in 1...count {
      streams.append(try open(person))
      try crowd.read(untilWaiting: most - 1)
    }
    try crowd.read()
    let time = (ContinuousClock.now - start).milliseconds
    figures.openedPerSecond = Double(count) / time * 1000
    figures.cpuOfOpening = (server.cpuTime - cpu) / Double(count) * 1000
  }

  /// Looks what the server holds, once it has given back what it does not need.
  func measureMemory() throws {
    // What is free goes back within seconds.
    var last: [Double] = []
    while last.count < 16 || (last.suffix(8).max() ?? 0) - (last.suffix(8).min() ?? 0) > 0.1 {
      if last.count > 120 { throw ValidationError("the server's memory does not come to rest") }
      last.append(server.residentMemory)
      Thread.sleep(forTimeInterval: 0.25)
    }
    figures.memory = last[last.count - 1] * 1e6 / 1024
  }

  // MARK: - Commits

  /// Changes a row of one person after the other.
  func commit(_ repetitions: Int) throws {
    let cpu = server.cpuTime
    var times: [Double] = []
    for _ in 0..<repetitions {
      let person = takePerson()
      nextValue += 1
      let text = "\"amount\":\(nextValue)}"
      crowd.await([text], on: streams[person - 1])
      try database.write("UPDATE orders SET amount = \(nextValue) WHERE id = \(person * 3)")
      let start = ContinuousClock.now
      try crowd.read()
      times.append((ContinuousClock.now - start).milliseconds)
    }
    figures.cpuOfCommits += server.cpuTime - cpu
    figures.commits.append(times)
  }

  /// Deletes sessions, each until its stream is over, and signs these people in again.
  func signOut(_ repetitions: Int) throws {
    var times: [Double] = []
    for _ in 0..<repetitions {
      let person = takePerson()
      let stream = streams[person - 1]
      // The last chunk of a body: RFC 9112 §7.1.
      crowd.await(["event: fetchError", "\"status\":401", "\r\n0\r\n\r\n"], on: stream)
      try database.write("DELETE FROM session WHERE user = \(person)")
      let start = ContinuousClock.now
      try crowd.read()
      times.append((ContinuousClock.now - start).milliseconds)
      crowd.leave(stream)
      try database.writer.write { try signIn(person, in: $0) }
      streams[person - 1] = try open(person)
      try crowd.read()
    }
    figures.signOuts.append(times)
  }

  /// Forgets the turns, when all is warm.
  func forget() { (figures.commits, figures.signOuts, figures.cpuOfCommits) = ([], [], 0) }

  private func takePerson() -> Int {
    nextPerson += 1
    return nextPerson * 7919 % count + 1
  }
}
