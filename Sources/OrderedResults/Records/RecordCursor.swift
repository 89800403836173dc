/// A place in a list of records, for loops that compare one record after the other.
// The pointers are those of a block that `list` holds; what is borrowed here is good as long as it.
@usableFromInline
struct RecordCursor {
  let list: RecordList
  private var place = RecordList.Place()
  /// How many records stand before the block.
  private var blockStart = 0
  private(set) var blockCount = 0
  /// The place in the block; `blockCount` when the block is done.
  @usableFromInline var item = 0
  @usableFromInline private(set) var memory: UnsafeRawPointer
  @usableFromInline private(set) var bounds: UnsafePointer<UInt32>

  /// A cursor at the first record.
  init(_ list: RecordList) {
    self.list = list
    // No record is read from here: an empty list is at its end.
    memory = UnsafeRawPointer(bitPattern: 8).unsafelyUnwrapped
    bounds = memory.assumingMemoryBound(to: UInt32.self)
    if !list.nodes.isEmpty { enter(place) }
  }

  /// Where a cursor stood.
  // Its pointers are good as long as the cursor's list.
  struct Mark {
    fileprivate let place: RecordList.Place
    fileprivate let blockStart: Int
    fileprivate let blockCount: Int
    fileprivate let item: Int
    fileprivate let memory: UnsafeRawPointer
    fileprivate let bounds: UnsafePointer<UInt32>
  }

  /// To come back here costs less than a copy of the cursor, which holds the list once more.
  var mark: Mark {
    Mark(
      place: place, blockStart: blockStart, blockCount: blockCount, item: item, memory: memory,
      bounds: bounds)
  }

  /// Goes back to where this cursor stood.
  mutating func go(to mark: Mark) {
    (place, blockStart, blockCount) = (mark.place, mark.blockStart, mark.blockCount)
    (item, memory, bounds) = (mark.item, mark.memory, mark.bounds)
  }

  var offset: Int { blockStart + item }
  var isAtEnd: Bool { offset == list.count }
  /// The record; not at the end.
  @inlinable
  var bytes: BorrowedBytes {
    let start = Int(bounds[item])
    return BorrowedBytes(start: memory + start, count: Int(bounds[item + 1]) - start)
  }

  /// The place in the block, or past it, of the record at an offset that is not before the block.
  func item(ofOffset offset: Int) -> Int { offset - blockStart }

  /// Goes on to the next block if this one is done.
  ///
  /// O(1).
  mutating func settle() {
    guard item == blockCount, blockCount > 0, let next = list.place(afterBlockAt: place) else {
      return
    }
    enter(next)
  }

  /// Goes to the next record.
  ///
  /// O(1).
  mutating func advance() {
    item += 1
    settle()
  }

  /// Goes on to the first of the next `count` records, this one being the first, for which `fits`
  /// holds; else behind them.
  ///
  /// O(count).
  ///
  /// - Returns: whether there is one.
  // The pointers are read once a block: nothing else changes them meanwhile.
  @inline(__always)
  mutating func advance(among count: Int, to fits: (BorrowedBytes) -> Bool) -> Bool {
    var remaining = count
    while remaining > 0, !isAtEnd {
      let (memory, bounds, first) = (memory, bounds, item)
      let end = min(blockCount, first + remaining)
      var start = Int(bounds[first])
      for candidate in first..<end {
        let next = Int(bounds[candidate &+ 1])
        if fits(BorrowedBytes(start: memory + start, count: next &- start)) {
          item = candidate
          return true
        }
        start = next
      }
      remaining -= end - first
      item = end
      settle()
    }
    return false
  }

  /// Goes to any record, or to the end.
  ///
  /// O(log n), n records; O(1) inside the block.
  mutating func seek(_ offset: Int) {
    if 0..<blockCount ~= offset - blockStart {
      item = offset - blockStart
    } else if offset == list.count {
      if !list.nodes.isEmpty { enter(list.lastBlock) }
      item = blockCount
    } else {
      let place = list.place(of: offset)
      enter(place)
      item = place.item
    }
  }

  /// Goes to the first record of a block.
  private mutating func enter(_ place: RecordList.Place) {
    self.place = place
    item = 0
    let block = list.block(at: place)
    blockStart = list.start(ofBlockAt: place)
    blockCount = block.count
    memory = block.memory
    bounds = block.bounds
  }
}
