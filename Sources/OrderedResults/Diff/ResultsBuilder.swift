/// Builds the next results from rows that arrive in order, comparing each with the old results as it
/// arrives.
///
/// A row that equals the next old record costs that one comparison: nothing is copied, and the
/// block of the old record is shared. Another row is paired where it is cheap to see with which
/// old record (`ResultsBuilder+Pairing.swift`); what is left over is matched when all have come
/// (`ResultsBuilder+Finish.swift`).
package struct ResultsBuilder: ~Copyable {
  let old: Results
  let identity: Identity
  /// The next old record.
  @usableFromInline var cursor: RecordCursor
  /// Up to which place in the cursor's block an equal row only makes the run longer: to the end of
  /// the block or of the old section, whichever comes first; 0 outside of a run.
  @usableFromInline var runLimit = 0
  /// Where the run of equal rows began; nil: the last row was not equal.
  var run: (old: Int, new: Int)?
  /// The first old section that begins after the last record of the run.
  var nextSection = 0
  /// Pairs so far without the run, ascending in both results.
  var pairs: [PairRun] = []
  /// The records so far without the run.
  var list: RecordListBuilder
  var sections: SectionListBuilder
  /// How many rows came since the last one that was paired.
  var misses = 0
  /// The key of the next old record, if it is an integer; only good while rows are missed.
  var awaitedKey: Int64?
  /// How many rows came before the first that was not paired; nil: all were.
  ///
  /// Where keys repeat, only pairs before it count: after it, who is the n-th of a key was not
  /// known yet.
  var prefix: Int?

  /// Builds results to be compared with `old`.
  package init(comparingWith old: Results) { self.init(old: old, new: nil) }

  /// Compares results with `old`, for ``changes(to:)`` alone.
  init(comparing new: Results, with old: Results) { self.init(old: old, new: new) }

  private init(old: Results, new: Results?) {
    self.old = old
    list = RecordListBuilder(known: new?.records)
    identity = Identity(old.layout)
    cursor = RecordCursor(old.records)
    sections = SectionListBuilder(old.layout)
  }

  /// Builds first results.
  package init(layout: RecordLayout) { self.init(comparingWith: .empty(layout)) }

  /// Takes the row that the encoder holds as the next record.
  ///
  /// O(b), b bytes, if it equals the next old record; else O(b + c) amortized, c columns.
  @inlinable
  package mutating func append(_ row: borrowing RecordEncoder) {
    append(row.bytes, columns: row.columns)
  }

  /// Takes a record as the next one.
  ///
  /// The cost is that of a row.
  package mutating func append(_ record: Record) {
    record.borrow { append($0, columns: old.layout.columnCount) }
  }

  @inlinable
  mutating func append(_ row: BorrowedBytes, columns: Int) {
    if cursor.item < runLimit, cursor.bytes.isEqual(to: row) {
      cursor.item &+= 1
    } else {
      place(row, columns: columns)
    }
  }
}
