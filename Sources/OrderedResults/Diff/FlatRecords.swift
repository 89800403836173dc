/// The records of a list under numbers from which each is found in two steps, not in the four that
/// lead through nodes and blocks.
///
/// A number is that of the block, counted in the list, times 128, and the place in the block.
struct FlatRecords {
  // It holds the blocks.
  let list: RecordList
  private let blocks: [Block]

  fileprivate struct Block {
    // Good as long as the list.
    let memory: UnsafeRawPointer
    /// How many records stand before the block.
    let start: UInt32
    let count: UInt32
  }

  /// O(n / 128), n records; none of them is read.
  init(_ list: RecordList) {
    self.list = list
    let count = list.nodes.reduce(0) { $0 + $1.blocks.count }
    precondition(count < 1 << 25, "\(count) blocks of records")
    blocks = [Block](capacity: count) { blocks in
      var start: UInt32 = 0
      for node in list.nodes {
        for block in node.blocks {
          let count = UInt32(truncatingIfNeeded: block.count)
          blocks.append(Block(memory: block.memory, start: start, count: count))
          start += count
        }
      }
    }
  }

  /// Where a record stands in the list.
  @inline(__always)
  func offset(_ number: UInt32) -> UInt32 { blocks[Int(number >> 7)].start &+ number & 127 }

  @inline(__always)
  func bytes(_ number: UInt32) -> BorrowedBytes {
    RecordBlock.bytes(Int(number & 127), in: blocks[Int(number >> 7)].memory)
  }

  /// Records of one block that follow each other.
  struct Run {
    // Good as long as the list.
    private let memory: UnsafeRawPointer
    /// What is added to the place in the block for the record's number.
    private let firstNumber: UInt32
    /// How many records stand before the block.
    private let start: UInt32
    /// Places in the block.
    let items: Range<Int>

    fileprivate init(_ block: Block, index: Int, _ items: Range<Int>) {
      (memory, start, self.items) = (block.memory, block.start, items)
      firstNumber = UInt32(truncatingIfNeeded: index) << 7
    }

    @inline(__always)
    func number(_ item: Int) -> UInt32 { firstNumber | UInt32(truncatingIfNeeded: item) }

    @inline(__always)
    func offset(_ item: Int) -> UInt32 { start &+ UInt32(truncatingIfNeeded: item) }

    @inline(__always)
    func bytes(_ item: Int) -> BorrowedBytes { RecordBlock.bytes(item, in: memory) }
  }

  /// The first records of a range, those that lie in one block; `block` is one that is not behind
  /// them, and then the one where they are.
  ///
  /// O(b), b blocks between.
  @inline(__always)
  func run(in range: Range<Int>, from block: inout Int) -> Run {
    while Int(blocks[block].start) + Int(blocks[block].count) <= range.lowerBound { block += 1 }
    let start = Int(blocks[block].start)
    let end = min(range.upperBound, start + Int(blocks[block].count))
    return Run(blocks[block], index: block, range.lowerBound - start..<end - start)
  }

  /// The numbers of all records of ascending ranges of offsets.
  ///
  /// O(n / 128 + m), m records of the ranges, n of the list; none of them is read.
  func numbers(in ranges: some OffsetRangeSequence) -> [UInt32] {
    [UInt32](capacity: ranges.totalCount) { numbers in
      var block = 0
      for range in ranges {
        var rest = range
        repeat {
          let run = run(in: rest, from: &block)
          for item in run.items { numbers.append(run.number(item)) }
          rest = rest.dropFirst(run.items.count)
        } while !rest.isEmpty
      }
    }
  }
}
