import FetchedRecords
import HTTP1
import OrderedResults

/// A record's key as it stands in a URL: percent-encoded values joined by commas.
///
/// The text does not say what type a value has, so that a person can write it: a number is looked
/// for as a number first, and then as text.
struct KeyText {
  private let candidates: [[Value]]

  /// - Parameter encoded: a path segment as it was sent.
  init(_ encoded: String) {
    candidates = encoded.split(separator: ",", omittingEmptySubsequences: false).map { part in
      Self.values(of: PercentEncoding.decoded(part) ?? String(part))
    }
  }

  private static func values(of text: String) -> [Value] {
    var values: [Value] = []
    if let integer = Int64(text) { values.append(.integer(integer)) }
    if let real = Double(text) { values.append(.real(real)) }
    values.append(.text(text))
    if let blob = [UInt8](base64: text) { values.append(.blob(blob)) }
    if text == "null" { values.append(.null) }
    return values
  }

  /// The record with this key. O(n) for n records.
  func offset(in results: Results) -> Int? {
    guard results.layout.key?.count == candidates.count else { return nil }
    var best: (offset: Int, rank: Int)?
    for (offset, record) in results.records(in: 0..<results.count).enumerated() {
      guard let rank = rank(of: results.key(of: record) ?? []) else { continue }
      if rank == 0 { return offset }
      if rank < best?.rank ?? .max { best = (offset, rank) }
    }
    return best?.offset
  }

  /// How unlikely it is that this key is meant: 0 is what the text says at first sight, nil is
  /// another key.
  private func rank(of key: [Value]) -> Int? {
    var sum = 0
    for (value, candidates) in zip(key, candidates) {
      guard let rank = candidates.firstIndex(of: value) else { return nil }
      sum += rank
    }
    return sum
  }

  /// The text of a key.
  static func text(_ key: [Value]) -> String {
    key.map { value in
      switch value {
      case .blob(let bytes):
        var base64: [UInt8] = []
        bytes.withUnsafeBytes { base64.appendBase64(of: $0) }
        return PercentEncoding.encoded(String(decoding: base64, as: UTF8.self))
      case .null: return "null"
      case .integer, .real, .text: return PercentEncoding.encoded(value.text)
      }
    }.joined(separator: ",")
  }
}
