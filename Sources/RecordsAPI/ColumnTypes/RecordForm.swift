import FetchedRecords
import OrderedResults
import QueryAnalysis

/// How the records of one result are written: the same in pages, snapshots and changes.
struct RecordForm {
  let layout: RecordLayout
  /// Where the bytes of columns are; nil where no column is shown by a URL.
  let addresses: ColumnAddresses?

  init(_ snapshot: ResultsSnapshot, _ arguments: QueryArguments) {
    self.init(
      snapshot.results.layout, snapshot.query.definition, arguments, digests: snapshot.digestKey)
  }

  init(
    _ layout: RecordLayout, _ definition: @autoclosure () -> QueryDefinition,
    _ arguments: QueryArguments, digests: DigestKey
  ) {
    self.layout = layout
    let hasURLs = layout.types.contains { if case .blob = $0 { true } else { false } }
    addresses = hasURLs ? ColumnAddresses(definition(), arguments, digests) : nil
  }
}

/// The URLs of the columns of one result's records.
///
/// They are relative to the query's own, `…/v1/queries/{query}/`, which clients know: what stands before
/// it, a proxy may have changed. The digest in them is that of the bytes, so that a column which changes
/// has another URL; the server does not look at it.
struct ColumnAddresses {
  private let digests: DigestKey
  /// The parameters by which the result was asked for, but for those that say nothing.
  private let parameters: String

  init(_ definition: QueryDefinition, _ arguments: QueryArguments, _ digests: DigestKey) {
    self.digests = digests
    var items = definition.parameters.filter { !$0.isClaimed }.compactMap { parameter in
      arguments[parameter.name].flatMap { value in
        value == parameter.defaultValue ? nil : (parameter.name, value)
      }
    }
    if let order = arguments[QueryDefinition.orderParameter],
      order != definition.orders.first.map({ .text($0.name) })
    {
      items.append((QueryDefinition.orderParameter, order))
    }
    parameters = items.map { "&\($0)=\(KeyText.encoded($1))" }.joined()
  }

  /// O(b), b bytes of the column.
  func url(of column: String, key: [Value], bytes: UnsafeRawBufferPointer) -> String {
    let path = "records/\(KeyText.encoded(key))/\(KeyText.encoded(.text(column)))"
    return "\(path)?\(Self.digest)=\(digests.digest(of: bytes).text)\(parameters)"
  }

  /// The parameter that makes the URL of other bytes another one.
  static let digest = "digest"
}
