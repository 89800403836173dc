import FetchedRecords
import Foundation
import JSON
import OrderedResults

/// Where a page ended: opaque to clients.
struct PageToken {
  private let version: String
  /// The offset after the page's last record, in the whole result.
  private let offset: Int
  /// The page's last record; nil where records have no key.
  private let last: Last?

  private struct Last {
    let key: [Value]
    /// How many records with the same key stand right before it: they are told apart by their
    /// order.
    let rank: Int
  }

  /// The cost is that of a walk over the records with the same key before `offset`.
  init(after offset: Int, in snapshot: ResultsSnapshot) {
    let results = snapshot.results
    version = snapshot.version.description
    self.offset = offset
    last = results.key(of: results[offset - 1]).map { key in
      guard results.mayRepeatKeys else { return Last(key: key, rank: 0) }
      return Last(key: key, rank: offset - 1 - results.beginning(ofRunWith: offset - 1))
    }
  }

  /// The end of a page, which has records. Where results are read in pages, no two records share a
  /// key.
  init(after page: ResultsPage) {
    version = page.version.description
    offset = page.offset + page.records.count
    last = page.records.last.flatMap { page.layout.key(of: $0) }.map { Last(key: $0, rank: 0) }
  }

  /// Where the page ended, for a result that is not live.
  var end: PageEnd { PageEnd(version: version, offset: offset, key: last?.key) }

  /// Whether the result has changed since, so that the record has to be looked for.
  func isSearch(in snapshot: ResultsSnapshot) -> Bool {
    last != nil && !snapshot.version.names(version)
  }

  /// The offset after the page's last record, wherever that is now, or else the old one.
  ///
  /// O(1) in the same version; else O(d log n) for n records, d how far the record has moved, and
  /// the cost of `keys` where that is much. Where keys repeat, d is not bounded.
  func offset(in snapshot: ResultsSnapshot, keys: () -> KeyIndex) -> Int {
    guard isSearch(in: snapshot), let last else { return offset }
    let results = snapshot.results
    guard results.mayRepeatKeys else {
      let found =
        results.offset(ofKey: last.key, nearestTo: offset - 1, within: PageEnd.neighbourhood)
        ?? keys().offset(ofKey: last.key)
      return found.map { $0 + 1 } ?? offset
    }
    let expected = offset - 1 - last.rank
    guard let near = results.offset(ofKey: last.key, nearestTo: expected) else { return offset }
    let first = results.beginning(ofRunWith: near)
    var end = first + 1
    while end - first <= last.rank, end < results.count, results.isSameKey(end, first) { end += 1 }
    return end
  }

  // MARK: - Text

  init?(_ text: String) {
    guard let bytes = [UInt8](base64: text), let plain = String(validating: bytes, as: UTF8.self)
    else { return nil }
    let parts = plain.split(separator: " ", omittingEmptySubsequences: false)
    guard [2, 4].contains(parts.count), let offset = Int(parts[1]), offset >= 0 else { return nil }
    version = String(parts[0])
    self.offset = offset
    guard parts.count == 4 else {
      last = nil
      return
    }
    guard let rank = Int(parts[2]), 0..<Int.max ~= rank, let key = [Value](code: parts[3]) else {
      return nil
    }
    last = Last(key: key, rank: rank)
  }

  var text: String {
    let plain = "\(version) \(offset)" + (last.map { " \($0.rank) \($0.key.code)" } ?? "")
    // The alphabet of RFC 4648 §5, without padding: safe in a URL as it is.
    return Data(plain.utf8).base64EncodedString().replacing("+", with: "-")
      .replacing("/", with: "_").replacing("=", with: "")
  }
}

extension Results {
  /// The first of the records around an offset that follow each other and share its key.
  fileprivate func beginning(ofRunWith offset: Int) -> Int {
    var first = offset
    while first > 0, isSameKey(first - 1, offset) { first -= 1 }
    return first
  }
}

extension [Value] {
  /// The values with their types, joined by commas: what a key in a URL does not tell.
  fileprivate var code: String {
    map { value in
      switch value {
      case .null: "n"
      case .integer(let integer): "i\(integer)"
      case .real(let real): "r\(real.bitPattern)"
      case .text(let bytes): "t\(Data(bytes).base64EncodedString())"
      case .blob(let bytes): "b\(Data(bytes).base64EncodedString())"
      }
    }.joined(separator: ",")
  }

  fileprivate init?(code: some StringProtocol) {
    self = []
    for part in code.split(separator: ",", omittingEmptySubsequences: false) {
      guard let value = Value(code: part.first, String(part.dropFirst())) else { return nil }
      append(value)
    }
  }
}

extension Value {
  fileprivate init?(code: Character?, _ text: String) {
    let value: Value? =
      switch code {
      case "n": .null
      case "i": Int64(text).map { .integer($0) }
      case "r": UInt64(text).map { .real(Double(bitPattern: $0)) }
      case "t": [UInt8](base64: text).map { .text($0) }
      case "b": [UInt8](base64: text).map { .blob($0) }
      default: nil
      }
    guard let value else { return nil }
    self = value
  }
}
