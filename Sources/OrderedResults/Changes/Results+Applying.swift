extension Results {
  /// The meaning of a change set: what its events make of this result.
  ///
  /// These are the five steps of `protocol.md` §3; they are not walked record by record but give
  /// the same, and each precondition is checked. A record of which only hidden columns changed is
  /// in no change set, so what is made here equals the new result in its visible columns.
  ///
  /// O(n / 128 + s + k log k) for n records, s sections and k changes; unchanged blocks are shared.
  package func applying(_ changes: ChangeSet) throws(ApplyError) -> Results {
    var plan = try ApplicationPlan(changes.recordChanges, to: self)
    let old = try plan.removeSections(changes.sectionChanges)
    let frames = try plan.insertSections(changes.sectionChanges, among: old)

    var list = RecordListBuilder()
    var sections: [Section] = []
    for (index, frame) in frames.enumerated() {
      let offset = list.count
      try plan.fill(index, frame, into: &list)
      sections.append(
        Section(
          name: frame.name, indexTitle: frame.indexTitle, numberOfRecords: list.count - offset,
          offset: offset))
    }
    try plan.checkAllPlaced()
    return Results(
      layout: layout, records: list.finish(), sections: SectionList(sections),
      hasDuplicateKeys: nil)
  }
}
