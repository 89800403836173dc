import DequeModule

/// What waits to be worked on by a refresher, in the order in which it came.
///
/// Used on the refresher's queue only.
struct WaitingLine {
  /// Queries whose first result somebody waits for, and that are not looked at yet.
  var openings: Deque<Opening> = []
  /// Live results that are behind. What was taken out elsewhere does not wait any more, and is passed
  /// by; the first and the last do wait.
  private(set) var behind: Deque<LiveResult> = []
  /// Those that take so long that they need a reader, in the same way.
  private(set) var long: Deque<LiveResult> = []

  /// Pages that somebody waits for, and that nobody has tried to read yet.
  var pages: Deque<PageRead> = []
  /// Those that take so long that they need a reader.
  var longPages: Deque<PageRead> = []
  /// Those that a reader began, and left for others.
  var putOffPages: Deque<PageRead> = []
  private var turn = Turn.new

  var isEmpty: Bool { !hasShort && !hasLong }

  /// Whether there is something to try on the queue.
  var hasShort: Bool { !openings.isEmpty || !behind.isEmpty || !pages.isEmpty }

  /// Whether something waits for a reader.
  var hasLong: Bool { !long.isEmpty || !longPages.isEmpty || !putOffPages.isEmpty }

  /// Puts a live result at the end of the line, unless it stands there or is being worked on.
  mutating func append(_ result: LiveResult) {
    guard !result.isWaiting, result.background == nil else { return }
    result.isWaiting = true
    behind.append(result)
  }

  /// Lets a result that was taken wait for a reader.
  mutating func appendLong(_ result: LiveResult) {
    result.isWaiting = true
    long.append(result)
  }

  mutating func nextOpening() -> Opening? { openings.popFirst() }

  /// Takes the next result out of the line.
  mutating func next() -> LiveResult? {
    guard let result = behind.popFirst() else { return nil }
    result.isWaiting = false
    behind.trim()
    return result
  }

  /// Takes the first long one of the least rank; nil: none has a rank. O(l), l long ones.
  mutating func nextLong(by rank: (LiveResult) -> Int?) -> LiveResult? {
    var best: (rank: Int, index: Int)?
    for (index, result) in long.enumerated() where result.isWaiting {
      guard let rank = rank(result), rank < best?.rank ?? .max else { continue }
      best = (rank, index)
      if rank == 0 { break }
    }
    guard let index = best?.index else { return nil }
    let result = long.remove(at: index)
    result.isWaiting = false
    long.trim()
    return result
  }

  /// What the next reader is for first, if there are all: a page, what is known to be soon done, or what
  /// runs for the first time.
  enum Turn {
    case page, known, new

    fileprivate var next: Turn {
      switch self {
      case .page: .known
      case .known: .new
      case .new: .page
      }
    }
  }

  mutating func takeTurn() -> Turn {
    turn = turn.next
    return turn
  }

  /// Takes the first page for a reader; one that was put off only where that is meant.
  mutating func nextLongPage(orPutOff: Bool) -> PageRead? {
    longPages.popFirst() ?? (orPutOff ? putOffPages.popFirst() : nil)
  }

  /// Whether a page waits for a reader that was not put off, or a result that `isMeant`. O(l), l long
  /// ones.
  func waitsForReader(where isMeant: (LiveResult) -> Bool) -> Bool {
    !longPages.isEmpty || long.contains { $0.isWaiting && isMeant($0) }
  }

  /// Takes out a page, wherever it stands. O(w) in the w waiting ones.
  mutating func remove(_ page: PageRead) {
    pages.removeAll { $0 === page }
    longPages.removeAll { $0 === page }
    putOffPages.removeAll { $0 === page }
  }

  /// Takes the pages that wait for a reader.
  mutating func takeLongPages() -> [PageRead] {
    defer { (longPages, putOffPages) = ([], []) }
    // Array(_:) of an empty deque writes the count of the empty array, which all threads share.
    return longPages.map(\.self) + putOffPages
  }

  /// Takes all pages.
  mutating func takePages() -> [PageRead] {
    defer { pages = [] }
    return pages.map(\.self) + takeLongPages()
  }

  /// Takes out a result, wherever it stands. Amortised O(1).
  mutating func remove(_ result: LiveResult) {
    guard result.isWaiting else { return }
    result.isWaiting = false
    behind.trim()
    long.trim()
  }
}

extension Deque<LiveResult> {
  /// Lets go of those at both ends that do not wait any more. Amortised O(1).
  fileprivate mutating func trim() {
    while let first, !first.isWaiting { removeFirst() }
    while let last, !last.isWaiting { removeLast() }
  }
}
