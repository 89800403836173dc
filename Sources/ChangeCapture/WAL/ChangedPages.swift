import Algorithms

/// The pages that a span of the log has written, each with the last frame that holds it.
///
/// O(f log f) to make from f frames, O(log f) to look one up.
struct ChangedPages: Sequence {
  /// Page in the upper half, frame in the lower; ascending, each page once.
  private(set) var entries: [UInt64] = []

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }

  mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

  /// Adds a frame; ``finish()`` must follow before anything is looked up.
  mutating func append(page: UInt32, frame: UInt32) {
    entries.append(UInt64(page) << 32 | UInt64(frame))
  }

  /// Orders the pages, and keeps the last frame of each.
  mutating func finish() {
    guard entries.count > 1 else { return }
    entries.sort()
    var kept = 0
    for index in entries.indices {
      if index + 1 < entries.count, entries[index] >> 32 == entries[index + 1] >> 32 { continue }
      entries[kept] = entries[index]
      kept += 1
    }
    entries.removeSubrange(kept...)
  }

  func makeIterator() -> some IteratorProtocol<UInt32> {
    entries.lazy.map { UInt32(truncatingIfNeeded: $0 >> 32) }.makeIterator()
  }

  /// The frame that holds a page; nil: the page has not changed.
  func frame(ofPage page: UInt32) -> UInt32? {
    let index = entries.partitioningIndex { $0 >> 32 >= UInt64(page) }
    guard index < entries.count, entries[index] >> 32 == UInt64(page) else { return nil }
    return UInt32(truncatingIfNeeded: entries[index])
  }

  func contains(_ page: UInt32) -> Bool { frame(ofPage: page) != nil }
}
