extension Results {
  /// What the query gives with this OFFSET and LIMIT: the records of a range of offsets, cut into
  /// the sections in which they stand.
  ///
  /// O(log n + k / 128 + s), k records in s sections; whole blocks are shared.
  package func window(_ range: Range<Int>) -> Results {
    let range = range.clamped(to: 0..<count)
    var builder = RecordListBuilder()
    builder.append(range, of: records)
    return Results(
      layout: layout, records: builder.finish(), sections: SectionList(sections(in: range)),
      hasDuplicateKeys: hasDuplicateKeys == false ? false : nil)
  }

  private func sections(in range: Range<Int>) -> [Section] {
    guard layout.section != nil else {
      return [Section(name: .null, indexTitle: "", numberOfRecords: range.count, offset: 0)]
    }
    guard !range.isEmpty else { return [] }
    let first = sections.index(ofOffset: range.lowerBound)
    let last = sections.index(ofOffset: range.upperBound - 1)
    return (first...last).map { index in
      var section = sections[index]
      let offsets = sections.offsets(index).clamped(to: range)
      if offsets.lowerBound > section.offset {
        // The index title is that of the first record, which is another one here.
        section.indexTitle = self[offsets.lowerBound].borrow {
          layout.indexTitle(of: $0, name: section.name)
        }
      }
      section.offset = offsets.lowerBound - range.lowerBound
      section.numberOfRecords = offsets.count
      return section
    }
  }
}
