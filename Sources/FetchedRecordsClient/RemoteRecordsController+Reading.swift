public import Foundation

extension RemoteRecordsController {
  /// The sections. A query without a section column has one, also when it is empty; before the first
  /// records there is none.
  public var sections: [RemoteRecordsSection<Record>] { fetchedRecords.sections }

  /// The record at an index path, which must be there. O(1).
  public subscript(indexPath: IndexPath) -> Record { fetchedRecords[indexPath] }

  /// How many records are shown. O(1).
  public var numberOfRecords: Int { fetchedRecords.count }

  /// The titles of an index, one for each section. O(s), s sections.
  public var sectionIndexTitles: [String] { fetchedRecords.sectionIndexTitles }

  /// The values of the query's `alongside` statements.
  public var alongside: [String: RemoteValue] { fetchedRecords.alongside }
}
