extension ResultsBuilder {
  /// The new results and what turns the old ones into them.
  ///
  /// If nothing changed, the new results are the old ones. O(m log m) for m rows and old records
  /// that were not paired as they came, and O(s) for s sections; O(n), n records, where keys may
  /// repeat.
  package consuming func finish() throws(SectionError) -> (results: Results, changes: ChangeSet) {
    if isUnchanged { return (old, ChangeSet()) }
    endRun()
    let (old, pairs, prefix) = (old, takePairs(), prefix)
    let new = try build()
    let matching = Matching(old: old, new: new, seen: pairs, prefix: prefix ?? new.count)
    let results = new.having(duplicateKeys: matching.hasDuplicateKeys)
    return (results, Diff(old: old, new: results, matching: matching).changes)
  }

  /// The new results alone: for a first fetch.
  package consuming func finishWithoutChanges() throws(SectionError) -> Results {
    endRun()
    return try build()
  }

  /// What turns the old results into `new`, all records of which were appended.
  consuming func changes(to new: Results) -> ChangeSet {
    if isUnchanged { return ChangeSet() }
    endRun()
    let (old, pairs, prefix) = (old, takePairs(), prefix)
    let matching = Matching(old: old, new: new, seen: pairs, prefix: prefix ?? new.count)
    return Diff(old: old, new: new, matching: matching).changes
  }

  /// The pairs, which are not needed any longer when they are matched.
  private mutating func takePairs() -> [PairRun] {
    defer { pairs = [] }
    return pairs
  }

  /// Whether each old record came again, in its place, and no other.
  private var isUnchanged: Bool {
    guard let run else { return list.count == 0 && old.count == 0 }
    return run == (0, 0) && cursor.offset == old.count
  }

  private consuming func build() throws(SectionError) -> Results {
    let (old, sectionBuilder) = (old, sections)
    let records = list.finish()
    let sections = sectionBuilder.finish(count: records.count)
    if !sections.hasSameNames(as: old.sections) {
      try sections.checkNames(records, old.layout)
    }
    return Results(
      layout: old.layout, records: records, sections: sections, hasDuplicateKeys: nil)
  }
}
