import HeldMemory

/// Counts a result while it is fetched, and asks for the room that it takes.
struct ResultMeter {
  let limits: RefresherLimits
  private let memory: MemoryBudget?
  /// Whether the fetch may wait until others have let go of memory.
  let mayWait: Bool
  /// Lets go of aids that nobody else may touch meanwhile; nil: whoever fetches has none.
  var letGoOfOwnAids: (@Sendable () -> Void)?
  private var isOfServer = false
  private var isOfAid = false
  private var rows = 0
  private var bytes = 0
  /// At so many bytes there is something to look at.
  private var nextLook = 0

  /// A result of so many bytes may use what is kept in reserve: whoever signs in finds room for what
  /// is theirs, whatever others have taken; and so may an aid.
  private static let smallSize = 1 << 16

  /// There is no room now, and others have to let go first, which cannot be waited for here.
  struct NeedsRoom: Error {}

  /// - Parameters:
  ///   - limits: what the result may take.
  ///   - memory: where it has to find room; nil: anywhere.
  ///   - mayWait: whether others may be waited for; never on the queue that follows commits.
  init(_ limits: RefresherLimits, _ memory: MemoryBudget?, mayWait: Bool) {
    self.limits = limits
    self.memory = memory
    self.mayWait = mayWait
  }

  /// The same for what the server itself needs to know who asks: what is small finds room, whatever
  /// is held.
  var ofServer: ResultMeter {
    var meter = self
    meter.isOfServer = true
    return meter
  }

  /// The same for an aid, which pushes out nothing: where there is no room, changes are dearer.
  var ofAid: ResultMeter {
    var meter = self
    meter.isOfAid = true
    return meter
  }

  /// Whether an aid of so many bytes may be made, or be kept where they are counted already: what is small always
  /// may. O(1).
  func hasRoom(forAidOf bytes: Int, isCounted: Bool = false) -> Bool {
    guard let memory, bytes > Self.smallSize else { return true }
    return memory.hasRoom(forAids: isCounted ? 0 : bytes)
  }

  /// For a program's own queries.
  static let none = ResultMeter(.none, nil, mayWait: false)

  /// Takes a row of so many bytes. O(1).
  ///
  /// - Throws: `FetchFailure` where the result is larger than a limit; ``NeedsRoom``.
  @inline(__always)
  mutating func add(_ size: Int) throws {
    rows += 1
    bytes += size
    if rows > limits.resultRows || bytes > nextLook { try look(size) }
  }

  private mutating func look(_ size: Int) throws {
    if rows > limits.resultRows { throw FetchFailure.tooManyRows(limits) }
    if bytes > limits.resultBytes { throw FetchFailure.tooManyBytes(limits) }
    let isSmall = bytes <= Self.smallSize
    nextLook = min(limits.resultBytes, isSmall ? Self.smallSize : bytes + MemoryBudget.step)
    guard let memory, !(isSmall && isOfServer) else { return }
    let room = isSmall ? Self.smallSize : size + MemoryBudget.step + memory.reserve
    if isOfAid {
      guard memory.hasRoom(forAids: room) else { throw FetchFailure.noMemory(limits) }
      return
    }
    if memory.hasRoom(for: room) { return }
    guard mayWait else { throw NeedsRoom() }
    if memory.makeRoom(for: room) { return }
    if let letGoOfOwnAids {
      letGoOfOwnAids()
      if memory.makeRoom(for: room) { return }
    }
    memory.noteRefusal()
    throw FetchFailure.noMemory(limits)
  }
}

extension FetchFailure {
  static func tooManyRows(_ limits: RefresherLimits) -> FetchFailure {
    FetchFailure(
      kind: .tooLarge,
      detail: "the result has more than \(limits.resultRows) records, the most that "
        + "`limits: resultRows` grants one query: narrow it by a condition or LIMIT")
  }

  static func tooManyBytes(_ limits: RefresherLimits) -> FetchFailure {
    FetchFailure(
      kind: .tooLarge,
      detail: "the result takes more than \(limits.resultBytes) bytes, the most that "
        + "`limits: resultBytes` grants one query: narrow it by a condition, LIMIT or fewer columns"
    )
  }

  static func valueTooLong(_ limits: RefresherLimits) -> FetchFailure {
    if limits.isOfExploration { return .valueTooLongToExplore(limits) }
    return FetchFailure(
      kind: .tooLarge,
      detail: "a value takes more than \(limits.valueBytes) bytes, the most of one that "
        + "`limits: resultBytes` grants a query, \(limits.resultBytes) bytes in all: select a part "
        + "of it, such as substr(…)")
  }

  private static func valueTooLongToExplore(_ limits: RefresherLimits) -> FetchFailure {
    FetchFailure(
      kind: .tooLarge,
      detail: "a value takes more than \(limits.valueBytes) bytes, the most of one where somebody "
        + "explores: select a part of it, such as substr(…), or declare the query")
  }

  /// All that may be held is held, and nobody can let go.
  package static func noMemory(_ limits: RefresherLimits) -> FetchFailure {
    FetchFailure(
      kind: .noMemory,
      detail: "there is no room for it: what is in use takes the \(limits.memory) bytes that "
        + "`limits: memory` grants all results together; try again later, or raise the limit")
  }

  static func tooLong(_ limits: RefresherLimits) -> FetchFailure {
    FetchFailure(
      kind: .tooLong,
      detail: "the query takes longer than \(limits.statement / .seconds(1)) s, the most that "
        + "`timeouts: statement` grants it: an index may help, or a narrower condition")
  }
}
