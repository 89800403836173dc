public import GRDB
import OrderedResults

/// A section of fetched records: a run of those with one section name.
///
/// An immutable value, like the results that it is of.
public struct FetchedRecordsSectionInfo<Record: FetchableRecord & SendableMetatype>: Sendable {
  /// The section's name as text; nil: the name is NULL, or the request has no section name.
  public let name: String?
  /// The section's name as the database has it. 1 and 1.0 are one name; NULL, `''`, `'a'` and `'A'`
  /// are four.
  public let databaseName: DatabaseValue
  /// What stands for the section in an index: by default the first character of its name, in upper
  /// case; empty where there is none.
  public let indexTitle: String
  let range: Range<Int>
  let results: FetchedResults<Record>

  /// How many records the section has. O(1).
  public var numberOfRecords: Int { range.count }

  /// The section's records, which are decoded as they are read.
  public var records: Slice<FetchedResults<Record>> { results[range] }
}

/// The sections of fetched records.
public struct FetchedSections<Record: FetchableRecord & SendableMetatype>: RandomAccessCollection,
  Sendable
{
  let results: FetchedResults<Record>

  /// 0.
  public var startIndex: Int { 0 }

  /// How many sections there are. O(1).
  public var endIndex: Int { results.state?.results.numberOfSections ?? 0 }

  /// A section, which must be there. O(1).
  public subscript(index: Int) -> FetchedRecordsSectionInfo<Record> {
    guard let state = results.state, indices.contains(index) else {
      preconditionFailure("no section \(index) among \(count)")
    }
    let section = state.results.section(at: index)
    let name = section.name.sectionName
    let title = name.flatMap { results.indexTitle?($0) } ?? section.indexTitle
    return FetchedRecordsSectionInfo(
      name: name, databaseName: DatabaseValue(section.name), indexTitle: title,
      range: section.offset..<section.offset + section.numberOfRecords, results: results)
  }
}

extension Value {
  /// A section's name as text; nil for NULL.
  var sectionName: String? { self == .null ? nil : text }
}
