import FetchedRecords
import HTTPServer
import OrderedResults

/// Which records of a result a request asks for.
struct Page {
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

  /// The offsets of the page's records, counted from the beginning of `range`.
  ///
  /// After a change of the result the page begins behind the record that ended the page before,
  /// wherever that is now: O(n) then, and O(1) otherwise.
  func offsets(in range: Range<Int>, of snapshot: ResultsSnapshot) -> Range<Int> {
    let count = range.count
    let first: Int
    switch start {
    case .offset(let offset): first = min(offset, count)
    case .after(let token):
      first = min(max(token.offset(in: snapshot) - range.lowerBound, 0), count)
    }
    return first..<min(first + limit, count)
  }
}

/// Where a page ended: opaque to clients.
struct PageToken {
  private let version: String
  /// The offset after the page's last record, in the whole result.
  private let offset: Int
  /// The key of the page's last record, as it stands in a URL; nil without a key.
  private let key: String?

  init(after offset: Int, in snapshot: ResultsSnapshot) {
    version = snapshot.version.description
    self.offset = offset
    key = snapshot.results.key(of: snapshot.results[offset - 1]).map(KeyText.text)
  }

  init?(_ text: String) {
    guard let bytes = [UInt8](base64: text), let plain = String(validating: bytes, as: UTF8.self)
    else { return nil }
    let parts = plain.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, let offset = Int(parts[1]), offset >= 0 else { return nil }
    version = String(parts[0])
    self.offset = offset
    key = parts.count == 3 ? String(parts[2]) : nil
  }

  var text: String {
    let plain = "\(version) \(offset)" + (key.map { " \($0)" } ?? "")
    var bytes: [UInt8] = []
    Array(plain.utf8).withUnsafeBytes { bytes.appendBase64(of: $0) }
    // The alphabet of RFC 4648 §5, without padding: safe in a URL as it is.
    let safe = bytes.compactMap { byte -> UInt8? in
      switch byte {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      case UInt8(ascii: "="): nil
      default: byte
      }
    }
    return String(decoding: safe, as: UTF8.self)
  }

  func offset(in snapshot: ResultsSnapshot) -> Int {
    guard snapshot.version.description != version, let key else { return offset }
    return KeyText(key).offset(in: snapshot.results).map { $0 + 1 } ?? offset
  }
}
