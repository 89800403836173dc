import FetchedRecords
import HTTPServer
import OrderedResults

/// Which records of a result a request asks for.
struct PageParameters {
  static let words: Set<String> = ["offset", "limit", "after"]
  private static let defaultLimit = 100
  static let maximumLimit = 10_000

  let limit: Int
  private let start: Start

  private enum Start {
    case offset(Int)
    case after(PageToken)
  }

  init(_ items: QueryItems) throws {
    limit = try items.integer("limit", in: 1...Self.maximumLimit) ?? Self.defaultLimit
    let offset = try items.integer("offset", in: 0...Int.max)
    guard let text = items["after"] else {
      start = .offset(offset ?? 0)
      return
    }
    guard offset == nil else { throw Problem.badRequest("give either offset or after, not both") }
    guard let token = PageToken(text) else {
      throw Problem.badRequest("after=\(text): give the next of the page before, as it was")
    }
    start = .after(token)
  }

  /// The same, where the result is not live.
  var range: PageRange {
    switch start {
    case .offset(let offset): PageRange(.offset(offset), limit: limit)
    case .after(let token): PageRange(.after(token.end), limit: limit)
    }
  }

  /// More records than this take longer to be written than an event loop and a refresh may wait.
  static let quicklyWritten = 200
  /// The same of their bytes.
  private static let quicklyWrittenBytes = 256 << 10

  /// Whether its records have to be looked for in a large result, or are more than are written in less
  /// than a millisecond.
  ///
  /// O(log n), n records.
  func isLong(in snapshot: ResultsSnapshot) -> Bool {
    let results = snapshot.results
    if case .after(let token) = start, results.count > RecordsService.quickSearch,
      token.isSearch(in: snapshot)
    {
      return true
    }
    let count = min(limit, results.count)
    guard count <= Self.quicklyWritten else { return true }
    guard count > 0 else { return false }
    return results.estimatedByteCount / results.count * count > Self.quicklyWrittenBytes
  }

  /// The offsets of the page's records, counted from the beginning of `range`.
  ///
  /// After a change of the result the page begins behind the record that ended the page before,
  /// wherever that is now: the cost is that of ``PageToken/offset(in:keys:)``.
  ///
  /// - Parameters:
  ///   - range: offsets of the snapshot's records.
  ///   - snapshot: the result.
  ///   - keys: where its keys are; asked for only where that is needed.
  /// - Returns: offsets counted from the beginning of `range`.
  func offsets(
    in range: Range<Int>, of snapshot: ResultsSnapshot, keys: () -> KeyIndex
  ) -> Range<Int> {
    let count = range.count
    let first: Int
    switch start {
    case .offset(let offset): first = min(offset, count)
    case .after(let token):
      first = min(max(token.offset(in: snapshot, keys: keys) - range.lowerBound, 0), count)
    }
    return first..<min(first + limit, count)
  }
}
