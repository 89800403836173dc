import Hashing
import SeededRandom

/// What digests of content are made with: servers with one key give the same content the same digest.
///
/// Whoever knows the key can make two contents of one digest, if he may write so many values; under a
/// key that nobody knows that is left to chance.
package final class DigestKey: Sendable {
  private let hash: KeyedHash
  private let second: UInt64
  private let points: RunDigest.Pair
  /// The points to the powers of 0 to ``RecordBlock/maximumCount``.
  private let powers: [RunDigest.Pair]

  /// The same everywhere, and known to everybody.
  package static let standard: DigestKey = {
    var random = SeededGenerator(seed: 1)
    return DigestKey { random.next() }
  }()

  /// The words that a key is made of.
  package static let wordCount = 8

  /// A key of ``wordCount`` words that are drawn one after the other.
  package init(words next: () -> UInt64) {
    hash = KeyedHash(next: next)
    second = next() | 1
    // 0 and 1 would have all elements count alike, or none.
    let points = (
      2 + Mersenne61.element(next()) % (Mersenne61.prime - 2),
      2 + Mersenne61.element(next()) % (Mersenne61.prime - 2)
    )
    var powers = [RunDigest.Pair(1, 1)]
    for _ in 0..<RecordBlock.maximumCount {
      let last = powers[powers.count - 1]
      powers.append(
        (Mersenne61.multiply(last.0, points.0), Mersenne61.multiply(last.1, points.1)))
    }
    self.points = points
    self.powers = powers
  }

  /// The digest of one element: some bytes. O(b), b bytes.
  package func digest(of bytes: UnsafeRawBufferPointer) -> RunDigest {
    run(of: 1) { _ in hash.digest(bytes) }
  }

  /// The digest of a text as one element.
  package func digest(of text: String) -> RunDigest {
    var text = text
    return text.withUTF8 { digest(of: UnsafeRawBufferPointer($0)) }
  }

  /// The digest of a run of at most ``RecordBlock/maximumCount`` elements, whose hashes `element` says.
  @inline(__always)
  func run(of count: Int, _ element: (Int) -> UInt64) -> RunDigest {
    var values: RunDigest.Pair = (0, 0)
    for index in 0..<count {
      let bits = element(index)
      values.0 = Mersenne61.add(
        Mersenne61.multiply(values.0, points.0), Mersenne61.element(bits))
      values.1 = Mersenne61.add(
        Mersenne61.multiply(values.1, points.1),
        Mersenne61.element(KeyedHash.fold(bits ^ second, second)))
    }
    return RunDigest(values: values, powers: powers[count])
  }

  /// The digest of a run whose values are known. O(1).
  func run(of count: Int, values: RunDigest.Pair) -> RunDigest {
    RunDigest(values: values, powers: powers[count])
  }

  /// The digest of a run that came of another one, in which a part was replaced. O(1).
  ///
  /// - Parameters:
  ///   - count: elements of the run.
  ///   - values: those of the run before.
  ///   - oldCount: elements of that, no more than there are now.
  ///   - part: the one that went.
  ///   - new: the one that came.
  ///   - end: what follows it; where it has not moved, its values do not matter.
  /// - Returns: the digest.
  func run(
    of count: Int, values: RunDigest.Pair, of oldCount: Int, replacing part: RunDigest,
    by new: RunDigest, before end: RunDigest
  ) -> RunDigest {
    func value(
      _ old: UInt64, _ part: UInt64, _ new: UInt64, _ end: UInt64, _ power: UInt64, _ growth: UInt64
    ) -> UInt64 {
      let tail = Mersenne61.add(Mersenne61.multiply(part, power), end)
      let head = Mersenne61.multiply(Mersenne61.subtract(old, tail), growth)
      return Mersenne61.add(Mersenne61.add(head, Mersenne61.multiply(new, power)), end)
    }
    let growth = powers[count - oldCount]
    return RunDigest(
      values: (
        value(
          values.0, part.values.0, new.values.0, end.values.0, end.powers.0, growth.0),
        value(
          values.1, part.values.1, new.values.1, end.values.1, end.powers.1, growth.1)
      ),
      powers: powers[count])
  }

  /// The hash of what a record shows.
  ///
  /// O(b + c), b bytes, c columns where some are hidden.
  @inline(__always)
  func hash(_ record: BorrowedBytes, _ shown: ShownColumns) -> UInt64 {
    if shown.areAll { return hash.hash(record.start, count: record.count, from: hash.seed) }
    return hash(hidden: record, shown)
  }

  private func hash(hidden record: BorrowedBytes, _ shown: ShownColumns) -> UInt64 {
    var columns = record.columns
    let visible = columns.nextBytes(shown.visible)
    var hash = hash.hash(visible.start, count: visible.count, from: hash.seed)
    for column in shown.hidden {
      let column = record.column(column)
      var reader = column.columns
      if case .real(let real) = reader.next(), let integer = Int64(exactly: real) {
        // The same name of a section, and the same key.
        hash = append(Record([.integer(integer)]), to: hash)
      } else {
        hash = self.hash.hash(column.start, count: column.count, from: hash)
      }
    }
    return hash
  }

  private func append(_ record: Record, to hash: UInt64) -> UInt64 {
    record.borrow { self.hash.hash($0.start, count: $0.count, from: hash) }
  }
}

/// The columns by which a record shows: the visible ones, and of the hidden ones its key and its
/// section's name. A hidden index title is not among them: only that of a section's first record shows.
struct ShownColumns: Equatable {
  let visible: Int
  /// Positions of the others, ascending.
  let hidden: [Int]
  /// Whether there are no others in the record.
  let areAll: Bool

  init(_ layout: RecordLayout) {
    visible = layout.columns.count
    areAll = layout.columnCount == visible
    hidden =
      areAll
      ? []
      : Set((layout.key ?? []) + [layout.section].compactMap(\.self)).filter { [visible] in
        $0 >= visible
      }.sorted()
  }
}
