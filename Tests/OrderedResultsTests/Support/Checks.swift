import TestSupport
import Testing

@testable import OrderedResults

/// All that must hold of a change set, whatever the results.
func check(
  _ changes: ChangeSet, from old: Results, to new: Results, comment: Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  func expect(_ condition: Bool, _ what: @autoclosure () -> String) {
    guard !condition else { return }
    Issue.record(
      "\(what())\nold \(old.text)\nnew \(new.text)\n\(changes.text(old.layout))\n\(comment ?? "")",
      sourceLocation: sourceLocation)
  }
  try new.checkInvariants()

  let applied = try PlainResults(old).applying(changes)
  expect(applied == PlainResults(new), "applying gives\n\(applied)")

  // A state has another name where anything of it shows otherwise, and only there.
  expect((old.digestText == new.digestText) == changes.isEmpty, "digests")

  // Each record at most once, and the one that it claims to be.
  var oldPaths: Set<IndexPath> = []
  var newPaths: Set<IndexPath> = []
  for change in changes.recordChanges {
    if let path = change.oldPath {
      expect(oldPaths.insert(path).inserted, "\(path) is named twice")
      expect(old[path] == change.oldRecord, "the old record at \(path)")
    }
    if let path = change.newPath {
      expect(newPaths.insert(path).inserted, "\(path) is named twice")
      expect(new[path] == change.newRecord, "the new record at \(path)")
    }
    if case .update(_, _, let before, let after) = change {
      expect(!old.layout.changedColumns(from: before, to: after).isEmpty, "nothing to update")
    }
    if old.layout.key == nil {
      expect(change.oldPath == nil || change.newPath == nil, "a record without a key lives on")
    }
  }
  checkPairs(changes, expect, old, new)
}

/// Records that live on are paired as the n-th of their key in both results.
private func checkPairs(
  _ changes: ChangeSet, _ expect: (Bool, @autoclosure () -> String) -> Void, _ old: Results,
  _ new: Results
) {
  let oracle = Oracle(old: old, new: new)
  guard old.layout.key != nil else { return }
  let partners = oracle.partners()
  let living = Set(partners.compactMap(\.self))
  for change in changes.recordChanges {
    let from = change.oldPath.map { old.offset(of: $0) }
    let to = change.newPath.map { new.offset(of: $0) }
    if let to {
      expect(partners[to] == from, "\(change) is not the n-th of its key")
    } else if let from {
      expect(!living.contains(from), "\(change) lives on")
    }
  }
}

/// No more changes than the heaviest choice of records that stay leaves.
func checkMinimal(
  _ changes: ChangeSet, from old: Results, to new: Results, comment: Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  // The matrix of large results would take most of the time.
  guard old.layout.key != nil, max(old.count, new.count) <= 150 else { return }
  let oracle = Oracle(old: old, new: new)
  let best = oracle.heaviest()
  var (unchangedMoves, changedMoves, updates) = (0, 0, 0)
  for change in changes.recordChanges {
    switch change {
    case .move(_, _, let before, let after):
      if old.layout.changedColumns(from: before, to: after).isEmpty {
        unchangedMoves += 1
      } else {
        changedMoves += 1
      }
    case .update: updates += 1
    default: break
    }
  }
  var (unchanged, changed) = (0, 0)
  for (offset, partner) in oracle.partners().enumerated() {
    guard let partner else { continue }
    if old.layout.changedColumns(from: old[partner], to: new[offset]).isEmpty {
      unchanged += 1
    } else {
      changed += 1
    }
  }
  let deletedSections = changes.sectionChanges.count {
    if case .deletion = $0 { true } else { false }
  }
  let found = (
    unchanged - unchangedMoves, changed - changedMoves, old.sections.count - deletedSections
  )
  #expect(
    found == (best.unchanged, best.changed, best.sections) && updates == best.changed,
    """
    stay \(found), could \(best)
    old \(old.text)
    new \(new.text)
    \(changes.text(old.layout))
    \(comment ?? "")
    """, sourceLocation: sourceLocation)
}

extension RecordChange {
  var oldPath: IndexPath? {
    switch self {
    case .insertion: nil
    case .deletion(let path, _), .move(let path, _, _, _), .update(let path, _, _, _): path
    }
  }

  var newPath: IndexPath? {
    switch self {
    case .deletion: nil
    case .insertion(let path, _), .move(_, let path, _, _), .update(_, let path, _, _): path
    }
  }

  var oldRecord: Record? {
    switch self {
    case .insertion: nil
    case .deletion(_, let record), .move(_, _, let record, _), .update(_, _, let record, _): record
    }
  }

  var newRecord: Record? {
    switch self {
    case .deletion: nil
    case .insertion(_, let record), .move(_, _, _, let record), .update(_, _, _, let record): record
    }
  }
}

/// Expects exactly these changes when the query's rows become others, and all that must hold.
///
/// - Returns: the new results.
@discardableResult
func expectChanges(
  _ layout: RecordLayout, from oldRows: [[Value]], to newRows: [[Value]], _ expected: String...,
  sourceLocation: SourceLocation = #_sourceLocation
) throws -> Results {
  let old = try Results(layout, oldRows)
  try old.checkInvariants()
  let (new, changes) = try old.next(newRows)
  #expect(
    changes.text(layout) == expected.joined(separator: "\n"), sourceLocation: sourceLocation)
  #expect(new.rows == newRows, sourceLocation: sourceLocation)
  try check(changes, from: old, to: new, sourceLocation: sourceLocation)
  checkMinimal(changes, from: old, to: new, sourceLocation: sourceLocation)
  return new
}
