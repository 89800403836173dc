import Algorithms
import HeldMemory

/// The sections of a result, in order.
package struct SectionList: RandomAccessCollection, Sendable, Equatable {
  private let sections: [Section]
  /// Nil where they are few.
  private let charge: MemoryCharge?

  /// About the bytes of a section, with its name.
  private static let bytesPerSection = 128

  init(_ sections: [Section] = []) {
    self.sections = sections
    charge = sections.count > 64 ? MemoryCharge(sections.count * Self.bytesPerSection) : nil
  }

  package static func == (left: SectionList, right: SectionList) -> Bool {
    left.sections == right.sections
  }

  package var startIndex: Int { 0 }
  package var endIndex: Int { sections.count }
  package subscript(index: Int) -> Section { sections[index] }

  /// The section of the record at an offset, which must be there.
  ///
  /// O(log s), s sections.
  func index(ofOffset offset: Int) -> Int {
    Swift.max(0, sections.partitioningIndex { $0.offset > offset } - 1)
  }

  /// The offset of a section's first record: without a copy of the section's name.
  func offset(_ index: Int) -> Int { sections[index].offset }

  /// The offsets of a section's records.
  func offsets(_ index: Int) -> Range<Int> {
    let start = sections[index].offset
    return start..<start + sections[index].numberOfRecords
  }
}

/// Walks the sections along with offsets that mostly grow or mostly shrink a little at a time.
struct SectionCursor {
  private let sections: SectionList
  private(set) var index = 0
  private(set) var offsets: Range<Int>

  init(_ sections: SectionList) {
    self.sections = sections
    offsets = sections.isEmpty ? 0..<0 : sections.offsets(0)
  }

  /// Goes to the section of a record.
  ///
  /// O(1) within a section and to its neighbours, else O(log s), s sections.
  mutating func seek(_ offset: Int) {
    if offsets.contains(offset) { return }
    if offset == offsets.upperBound, index + 1 < sections.count {
      enter(index + 1)
    } else if offset == offsets.lowerBound - 1, index > 0 {
      enter(index - 1)
    }
    if !offsets.contains(offset) { enter(sections.index(ofOffset: offset)) }
  }

  /// The index path of a record; the cost is that of `seek`.
  mutating func indexPath(ofOffset offset: Int) -> IndexPath {
    seek(offset)
    return IndexPath(section: index, item: offset - offsets.lowerBound)
  }

  private mutating func enter(_ section: Int) {
    index = section
    offsets = sections.offsets(section)
  }
}
