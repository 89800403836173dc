public import GRDB
import OrderedResults

/// Fetched records, in order: an immutable value that may be handed to any thread.
///
/// A copy costs nothing, and later results share what they have in common with it. Records are kept
/// as the bytes that the database gave and decoded when they are read, so that a million of them
/// take little more than those bytes. Reading a record is O(log n), n records, and its decoding;
/// reading them in order is cheaper.
public struct FetchedResults<Record: FetchableRecord & SendableMetatype>: RandomAccessCollection,
  Sendable
{
  let state: FetchedState?
  /// Overrides the index titles of sections.
  var indexTitle: (@Sendable (String) -> String?)?

  /// 0.
  public var startIndex: Int { 0 }

  /// How many records there are. O(1).
  public var endIndex: Int { state?.results.count ?? 0 }

  /// The record at a place in the order, counted from 0; it must be there.
  ///
  /// Decodes the record anew each time. O(log n), n records.
  public subscript(position: Int) -> Record {
    guard let state, indices.contains(position) else {
      preconditionFailure("no record \(position) among \(count)")
    }
    return Self.decode(CollectionOfOne(state.results[position]), state.shape)[0]
  }

  /// Reads the records in order. O(n) in all, n records, and their decoding.
  public func makeIterator() -> Iterator { Iterator(self, 0..<count) }

  /// Decodes records some at a time, which is cheaper than one by one.
  public struct Iterator: IteratorProtocol {
    private let results: FetchedResults
    private var rest: Range<Int>
    private var decoded: ArraySlice<Record> = []

    init(_ results: FetchedResults, _ range: Range<Int>) {
      (self.results, rest) = (results, range)
    }

    /// The next record; nil: there are no more.
    public mutating func next() -> Record? {
      if let record = decoded.popFirst() { return record }
      guard let state = results.state, !rest.isEmpty else { return nil }
      let chunk = rest.prefix(64)
      rest = rest.dropFirst(64)
      decoded = FetchedResults.decode(state.results.records(in: chunk), state.shape)[...]
      return decoded.popFirst()
    }
  }

  /// Every record was decoded once when it was fetched, and what threw was no result.
  static func decode(
    _ records: some Sequence<OrderedResults.Record>, _ shape: RowShape
  ) -> [Record] {
    do {
      return try shape.rows(records).map { try Record(row: $0) }
    } catch {
      preconditionFailure(
        "\(Record.self).init(row:) threw for a row that it had accepted before: \(error)")
    }
  }
}
