@testable import OrderedResults

extension Results {
  /// Checks all that other code relies upon.
  ///
  /// O(n · b), n records of b bytes.
  func checkInvariants() throws(BrokenInvariant) {
    try records.checkInvariants(columnCount: layout.columnCount)
    try sections.checkInvariants(count: count)
    try checkSectionsOfRecords()
    try checkKeys()
  }

  private func checkSectionsOfRecords() throws(BrokenInvariant) {
    guard let column = layout.section else {
      return try BrokenInvariant.require(
        sections.count == 1 && sections[0].name == .null && sections[0].indexTitle.isEmpty,
        "\(sections.count) sections without a section column")
    }
    for index in sections.indices {
      let section = sections[index]
      try BrokenInvariant.require(section.numberOfRecords > 0, "section \(index) is empty")
      for offset in sections.offsets(index) {
        let name = self[offset].value(column).canonical
        try BrokenInvariant.require(name == section.name, "record \(offset): \(name) in \(section)")
      }
      let first = self[section.offset]
      let indexTitle = first.borrow { layout.indexTitle(of: $0, name: section.name) }
      try BrokenInvariant.require(
        indexTitle == section.indexTitle, "title \(indexTitle) of \(section)")
    }
  }

  private func checkKeys() throws(BrokenInvariant) {
    guard layout.key != nil, hasDuplicateKeys == false else { return }
    var offsets: [[Value]: Int] = [:]
    for offset in 0..<count {
      guard let key = key(of: self[offset])?.map(\.canonical) else { continue }
      if let first = offsets.updateValue(offset, forKey: key) {
        throw BrokenInvariant(description: "records \(first) and \(offset) share the key \(key)")
      }
    }
  }
}

extension RecordList {
  func checkInvariants(columnCount: Int) throws(BrokenInvariant) {
    try BrokenInvariant.require(
      starts.count == nodes.count, "\(starts.count) starts, \(nodes.count) nodes")
    var total = 0
    for (index, node) in nodes.enumerated() {
      try BrokenInvariant.require(
        starts[index] == total, "node \(index) at \(starts[index]), not \(total)")
      try node.checkInvariants(columnCount: columnCount)
      total += node.count
    }
    try BrokenInvariant.require(count == total, "count \(count), \(total) records")
  }
}

extension BlockNode {
  func checkInvariants(columnCount: Int) throws(BrokenInvariant) {
    try BrokenInvariant.require(
      1...Self.maximumCount ~= blocks.count, "\(blocks.count) blocks in a node")
    var offset = 0
    for (index, block) in blocks.enumerated() {
      try BrokenInvariant.require(
        starts[index] == offset, "block \(index) at \(starts[index]), not \(offset)")
      try BrokenInvariant.require(
        1...RecordBlock.maximumCount ~= block.count, "\(block.count) records in block \(index)")
      try BrokenInvariant.require(
        block.count == 1 || block.byteCount <= RecordBlock.maximumByteCount,
        "\(block.byteCount) bytes in block \(index)")
      for item in 0..<block.count {
        let columns = block.record(item).values.count
        try BrokenInvariant.require(
          columns == columnCount, "record \(offset + item) has \(columns) columns")
      }
      offset += block.count
    }
    try BrokenInvariant.require(count == offset, "count \(count), \(offset) records")
  }
}

extension SectionList {
  func checkInvariants(count: Int) throws(BrokenInvariant) {
    var offset = 0
    var names: Set<Value> = []
    for (index, section) in self.enumerated() {
      try BrokenInvariant.require(
        section.offset == offset, "section \(index) at \(section.offset), not \(offset)")
      try BrokenInvariant.require(
        section.numberOfRecords >= 0, "section \(index): \(section.numberOfRecords)")
      try BrokenInvariant.require(
        section.name == section.name.canonical, "section \(index): \(section.name)")
      try BrokenInvariant.require(
        names.insert(section.name).inserted, "second section \(section.name)")
      offset += section.numberOfRecords
    }
    try BrokenInvariant.require(offset == count, "\(offset) records in sections, \(count) in all")
  }
}
