@testable import OrderedResults

extension Value: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByNilLiteral
{
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(floatLiteral value: Double) { self = .real(value) }
  package init(stringLiteral value: String) { self = .text(Array(value.utf8)) }
  package init(nilLiteral: ()) { self = .null }
}

extension Results {
  /// Results of these rows, in this order.
  convenience init(_ layout: RecordLayout, _ rows: [[Value]]) throws {
    var builder = ResultsBuilder(layout: layout)
    for row in rows { builder.append(Record(row)) }
    let made = try builder.finishWithoutChanges()
    self.init(
      layout: made.layout, records: made.records, sections: made.sections,
      hasDuplicateKeys: made.hasDuplicateKeys)
  }

  /// The next results as the rows come from a query.
  func next(_ rows: [[Value]]) throws -> (results: Results, changes: ChangeSet) {
    var builder = ResultsBuilder(comparingWith: self)
    var encoder = RecordEncoder()
    for row in rows {
      encoder.begin()
      for value in row { encoder.append(value) }
      builder.append(encoder)
    }
    return try builder.finish()
  }

  var rows: [[Value]] { records(in: 0..<count).map(\.values) }
}
