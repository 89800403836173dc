/// What may have changed in a database since its reader last looked.
///
/// A promise in one direction: what is not in here has not changed. What is in here may be as it
/// was.
package struct DatabaseChanges: Sendable, Equatable {
  /// How much may have changed.
  package enum Extent: Sendable, Equatable {
    case nothing
    /// Tables that are not named have not changed. Names are spelled as whoever follows the table
    /// spells it, and else as the schema does; views are not named.
    case tables([String: TableChanges])
    case everything
  }

  /// Why that much: for metrics and for people who wonder about a refetch.
  package struct Reasons: OptionSet, Sendable {
    package let rawValue: UInt16
    /// The reader had not looked before.
    package static let firstLook = Reasons(rawValue: 1)
    /// Transactions were committed; which rows they touched is not known.
    package static let commit = Reasons(rawValue: 2)
    /// The database lives in memory, or SQLite's layer of files shows none.
    package static let noFile = Reasons(rawValue: 32)
    /// The file is encrypted, or of an unknown format; so is the log's index.
    package static let unknownFormat = Reasons(rawValue: 64)
    /// A page could not be read, or is not what it should be.
    package static let malformedPage = Reasons(rawValue: 128)
    /// Commits fell so together with the beginning of the read transaction that it is not known
    /// which of them it sees; or the connection has changes of its own.
    package static let snapshotUnknown = Reasons(rawValue: 256)
    /// The database has changed to another journal mode or page size.
    package static let otherLayout = Reasons(rawValue: 512)

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Stable words, fit to label a metric.
    package var names: [String] {
      let all: [(Reasons, String)] = [
        (.firstLook, "firstLook"), (.commit, "commit"), (.noFile, "noFile"),
        (.unknownFormat, "unknownFormat"), (.malformedPage, "malformedPage"),
        (.snapshotUnknown, "snapshotUnknown"), (.otherLayout, "otherLayout"),
      ]
      return all.filter { contains($0.0) }.map(\.1)
    }
  }

  package private(set) var extent: Extent
  package private(set) var reasons: Reasons
  /// Whether the schema may have changed: what was learned from it must be learned anew.
  package private(set) var schemaChanged: Bool

  package static let nothing = DatabaseChanges(extent: .nothing, reasons: [], schemaChanged: false)

  package static func everything(_ reasons: Reasons) -> DatabaseChanges {
    DatabaseChanges(extent: .everything, reasons: reasons, schemaChanged: true)
  }

  package static func tables(
    _ tables: [String: TableChanges], schemaChanged: Bool = false
  ) -> DatabaseChanges {
    let isNothing = tables.isEmpty && !schemaChanged
    return DatabaseChanges(
      extent: isNothing ? .nothing : .tables(tables), reasons: [], schemaChanged: schemaChanged)
  }

  package var isNothing: Bool { extent == .nothing }

  /// What may have changed in one table; nil: nothing. Names are compared as SQLite does.
  package subscript(table table: String) -> TableChanges? {
    switch extent {
    case .nothing: return nil
    case .everything: return .whole(.notFollowed)
    case .tables(let tables):
      if let exact = tables[table] { return exact }
      let folded = table.lowercased()
      return tables.first { $0.key.lowercased() == folded }?.value
    }
  }

  /// Says better what changed in a virtual table than that one of the tables behind it has.
  mutating func explain(_ table: String, by changes: TableChanges) {
    guard case .tables(var tables) = extent else { return }
    extent = .nothing
    tables = tables.filter { $0.key.lowercased() != table.lowercased() }
    if !changes.isNothing { tables[table] = changes }
    extent = .tables(tables)
  }

  /// Takes tables as a whole of which rows WITHOUT ROWID are gone that may be there still: their keys are
  /// not known.
  mutating func doubtGoneKeys() {
    guard case .tables(let tables) = extent else { return }
    extent = .tables(
      tables.mapValues { changes in
        guard case .keys(let keys) = changes, keys.values.values.contains(where: \.isEmpty) else {
          return changes
        }
        return .whole(.snapshotUnknown)
      })
  }

  /// The same without the rows of tables of which more changed than so many: any may have.
  ///
  /// O(t), t tables.
  package func naming(atMost count: Int) -> DatabaseChanges {
    guard case .tables(let tables) = extent, tables.values.contains(where: { $0.count > count })
    else { return self }
    var copy = self
    copy.extent = .tables(tables.mapValues { $0.count > count ? .whole(.manyRows) : $0 })
    return copy
  }

  /// Joins the changes of one span of time with those of the next.
  package mutating func formUnion(_ other: DatabaseChanges) {
    reasons.formUnion(other.reasons)
    schemaChanged = schemaChanged || other.schemaChanged
    switch (extent, other.extent) {
    case (.everything, _), (_, .nothing): break
    case (.nothing, _), (_, .everything): extent = other.extent
    case (.tables(var mine), .tables(let others)):
      extent = .nothing
      mine.merge(others) { mine, other in
        var joined = mine
        joined.formUnion(other)
        return joined
      }
      extent = .tables(mine)
    }
  }
}
