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

  /// More keys than this that a text may mean, and one look through all records is cheaper.
  private static let mostLookups = 1024

  /// The record with this key; of several that the text may mean, the one that it says at first
  /// sight.
  ///
  /// O(c · log n), c keys that the text may mean among n records.
  func offset(in index: KeyIndex) -> Int? {
    let results = index.results
    guard results.layout.key?.count == candidates.count else { return nil }
    let count = candidates.reduce(1) { min($0 * $1.count, Self.mostLookups + 1) }
    guard count <= Self.mostLookups else { return best(of: 0..<results.count, in: results) }
    let keys = candidates.reduce([[]]) { keys, values in
      keys.flatMap { key in values.map { key + [$0] } }
    }
    return best(of: keys.compactMap(index.offset).sorted(), in: results)
  }

  /// The first of the records that is most likely meant.
  private func best(of offsets: some Sequence<Int>, in results: Results) -> Int? {
    var best: (offset: Int, rank: Int)?
    for offset in offsets {
      guard let rank = rank(of: results.key(of: results[offset]) ?? []) else { continue }
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
}
