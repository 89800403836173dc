import FetchedRecords
import HTTP1
import JSON
import OrderedResults

/// A record's key as it stands in a URL: percent-encoded values joined by commas, and maybe a comma
/// behind the last one.
///
/// That comma is for the keys `.` and `..`, which whoever reads a URL takes for steps of its path,
/// percent-encoded too (RFC 3986 §5.2.4, WHATWG URL §4.4): `..,` is no such step. Without it the
/// text has one value more than the key, so it means nothing else.
///
/// The text does not say what type a value has, so that a person can write it: a number is looked
/// for as a number first, and then as text.
struct KeyText {
  private let values: [[Value]]
  /// Whether the last value is what stands behind the last comma: nothing.
  private let endsWithComma: Bool

  /// - Parameter encoded: a path segment as it was sent.
  init(_ encoded: String) {
    values = encoded.split(separator: ",", omittingEmptySubsequences: false).map { part in
      Self.values(of: PercentEncoding.decoded(part) ?? String(part))
    }
    endsWithComma = encoded.hasSuffix(",")
  }

  /// What each value of a key with so many columns may be; nil: it is no such key.
  private func candidates(count: Int) -> [[Value]]? {
    if values.count == count { return values }
    return endsWithComma && values.count == count + 1 ? values.dropLast() : nil
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
    guard let columns = results.layout.key?.count, let candidates = candidates(count: columns)
    else { return nil }
    let count = candidates.reduce(1) { min($0 * $1.count, Self.mostLookups + 1) }
    guard count <= Self.mostLookups else {
      return best(of: 0..<results.count, among: candidates, in: results)
    }
    let keys = candidates.reduce([[]]) { keys, values in
      keys.flatMap { key in values.map { key + [$0] } }
    }
    return best(of: keys.compactMap(index.offset).sorted(), among: candidates, in: results)
  }

  /// The first of the records that is most likely meant.
  private func best(
    of offsets: some Sequence<Int>, among candidates: [[Value]], in results: Results
  ) -> Int? {
    var best: (offset: Int, rank: Int)?
    for offset in offsets {
      guard let rank = rank(of: results.key(of: results[offset]) ?? [], among: candidates)
      else { continue }
      if rank == 0 { return offset }
      if rank < best?.rank ?? .max { best = (offset, rank) }
    }
    return best?.offset
  }

  /// How unlikely it is that this key is meant: 0 is what the text says at first sight, nil is
  /// another key.
  private func rank(of key: [Value], among candidates: [[Value]]) -> Int? {
    var sum = 0
    for (value, candidates) in zip(key, candidates) {
      guard let rank = candidates.firstIndex(of: value) else { return nil }
      sum += rank
    }
    return sum
  }
}
