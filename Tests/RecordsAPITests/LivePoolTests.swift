import FetchedRecords
import Locks
import Testing

@testable import RecordsAPI

@Suite struct `A pool of live things` {
  private final class Thing: Sendable {
    let name: String
    let wasUsed = Mutex(false)

    init(_ name: String) { self.name = name }
  }

  /// What was let go, in order.
  private final class Gone: Sendable {
    let names = Mutex<[String]>([])
  }

  private let gone = Gone()
  private let pool: LivePool<String, Thing>

  init() {
    pool = LivePool(
      maximum: 3, linger: .seconds(3600),
      wasUsed: { thing in
        thing.wasUsed.withLock { wasUsed in
          defer { wasUsed = false }
          return wasUsed
        }
      },
      letGo: { [gone] thing in gone.names.withLock { $0.append(thing.name) } })
  }

  /// Nil where it is refused.
  private func acquire(_ name: String, makeRoom: () -> Bool = { false }) -> Thing? {
    let result = Mutex<Thing?>(nil)
    pool.acquire(name, makeRoom: makeRoom, open: { $1(.success(Thing(name))) }) { acquired in
      result.withLock { $0 = try? acquired.get() }
    }
    return result.withLock { $0 }
  }

  private func use(_ name: String) throws {
    pool.release(try #require(acquire(name)), of: name)
  }

  private var names: [String] { gone.names.withLock { $0 } }

  @Test func `lets the one go that nobody has used for longest where there is no room`() throws {
    for name in ["a", "b", "c", "a"] { try use(name) }
    for name in ["d", "e"] { try use(name) }
    #expect(names == ["b", "c"])
    #expect(Set(pool.live.map(\.key)) == ["a", "d", "e"])
  }

  @Test func `keeps the last few of those that cost something`() {
    let gone = gone
    let pool = LivePool<String, Thing>(
      maximum: 10, linger: .seconds(3600), mostBurdens: 2,
      isBurden: { $0.name.hasPrefix("dear") },
      letGo: { thing in gone.names.withLock { $0.append(thing.name) } })
    func use(_ name: String) {
      pool.acquire(name, open: { $1(.success(Thing(name))) }) { acquired in
        if let thing = try? acquired.get() { pool.release(thing, of: name) }
      }
    }
    for name in ["dear 1", "a", "dear 2", "b", "c", "d"] { use(name) }
    #expect(names.isEmpty)
    use("dear 3")
    #expect(names == ["dear 1"])
    // One that was used again is not the one that nobody has used for longest.
    for name in ["dear 2", "dear 4"] { use(name) }
    #expect(names == ["dear 1", "dear 3"])
    #expect(Set(pool.live.map(\.key)) == ["a", "b", "c", "d", "dear 2", "dear 4"])
  }

  @Test func `keeps what was used without being acquired`() throws {
    let first = try #require(acquire("a"))
    pool.release(first, of: "a")
    try use("b")
    try use("c")
    first.wasUsed.withLock { $0 = true }
    try use("d")
    #expect(names == ["b"])
  }

  @Test func `lets go at once of what nobody will want again`() throws {
    let first = try #require(acquire("a"))
    #expect(acquire("a") === first)
    pool.release(first, of: "a", lingers: false)
    #expect(names.isEmpty)
    pool.release(first, of: "a", lingers: false)
    #expect(names == ["a"])
    #expect(pool.live.isEmpty)
  }

  @Test func `refuses only where all are in use`() throws {
    let things = try ["a", "b", "c"].map { try #require(acquire($0)) }
    #expect(acquire("d") == nil)
    #expect(acquire("a") === things[0])
    pool.release(things[1], of: "b")
    try use("d")
    #expect(names == ["b"])
    // In use a second time.
    pool.release(things[0], of: "a")
    #expect(acquire("e") != nil)
    #expect(acquire("f") == nil)
    #expect(names == ["b", "d"])
  }

  @Test func `asks for room where all are in use`() throws {
    let things = try ["a", "b", "c"].map { try #require(acquire($0)) }
    var isFirst = true
    #expect(
      acquire("d") {
        defer { isFirst = false }
        if isFirst { pool.release(things[2], of: "c") }
        return isFirst
      } != nil)
    #expect(names == ["c"])
    #expect(acquire("e") { false } == nil)
  }

  @Test func `is not held up by one that is used again and again`() throws {
    for name in ["a", "b"] { try use(name) }
    for _ in 1...10_000 { try use("c") }
    #expect(names.isEmpty)
    try use("d")
    #expect(names == ["a"])
    #expect(pool.evict() && pool.evict() && pool.evict() && !pool.evict())
    #expect(names == ["a", "b", "c", "d"])
  }
}
