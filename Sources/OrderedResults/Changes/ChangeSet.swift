/// What happened to one record between two results.
///
/// Index paths called `from` and that of a deletion are counted in the old result, all others in
/// the new one.
package enum RecordChange: Sendable, Equatable {
  case insertion(at: IndexPath, record: Record)
  case deletion(at: IndexPath, record: Record)
  /// The record left its place or its section; its columns may differ too.
  case move(from: IndexPath, to: IndexPath, old: Record, new: Record)
  /// Visible columns differ, and the record keeps its place among those that stay.
  case update(from: IndexPath, to: IndexPath, old: Record, new: Record)
}

/// A section that came (counted in the new result) or went (counted in the old one).
package enum SectionChange: Sendable, Equatable {
  case insertion(section: Int, name: Value, indexTitle: String)
  case deletion(section: Int, name: Value, indexTitle: String)
}

/// All that turned one result into another.
///
/// What it means is in `protocol.md` §3: five steps that turn the old result into the new one.
package struct ChangeSet: Sendable, Equatable {
  /// Deletions from the highest section, then insertions from the lowest.
  package var sectionChanges: [SectionChange]
  /// Deletions and moves by descending old index path, then insertions by ascending new one, then
  /// updates by ascending new one.
  package var recordChanges: RecordChanges

  package init(sectionChanges: [SectionChange] = [], recordChanges: [RecordChange] = []) {
    self.sectionChanges = sectionChanges
    self.recordChanges = RecordChanges(recordChanges)
  }

  init(sectionChanges: [SectionChange], recordChanges: RecordChanges) {
    self.sectionChanges = sectionChanges
    self.recordChanges = recordChanges
  }

  package var isEmpty: Bool { sectionChanges.isEmpty && recordChanges.isEmpty }
  package var count: Int { sectionChanges.count + recordChanges.count }
}

extension RecordLayout {
  /// Positions of the visible columns in which two records differ.
  ///
  /// O(b), b bytes of both.
  package func changedColumns(from old: Record, to new: Record) -> [Int] {
    old.withColumns { old in
      new.withColumns { new in
        columns.indices.filter { _ in !old.nextBytes().isEqual(to: new.nextBytes()) }
      }
    }
  }

  /// Whether all visible columns are equal.
  ///
  /// O(b), b bytes of both.
  func showsSame(_ old: BorrowedBytes, _ new: BorrowedBytes) -> Bool {
    var (old, new) = (old.columns, new.columns)
    return old.nextBytes(columns.count).isEqual(to: new.nextBytes(columns.count))
  }
}
