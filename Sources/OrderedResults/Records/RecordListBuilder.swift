/// Makes a list from new rows and from runs of another list, whose blocks and nodes it shares.
struct RecordListBuilder: ~Copyable {
  /// The list that is to come of it, where it is there already: then nothing is made, only counted.
  private let known: RecordList?
  private var knownCount = 0
  private var list = RecordList()
  /// Blocks that do not make a node yet.
  private var node = NodeBlocks()
  /// Records that do not make a block yet.
  private var open = OpenBlock()
  /// The place at which the last run of another list ended: runs mostly come in order.
  private var hint = RecordList.Place()
  /// Where the records of ``open`` come from that were copied from other blocks, in order.
  private var copied: [MadeBlock.Run] = []
  /// Names that a block made here has taken over.
  private var takenOver: Set<UInt64> = []
  /// The blocks that were made here, in order.
  private var made: [MadeBlock] = []

  /// - Parameter known: the list that will be made, if it was made before.
  init(known: RecordList? = nil) { self.known = known }

  var count: Int { known == nil ? list.count + node.count + open.count : knownCount }

  /// Counts records of the list that was made before.
  mutating func pass(_ count: Int) {
    assert(known != nil, "records of a list that is being made")
    knownCount += count
  }

  /// O(b), b bytes.
  mutating func append(_ record: BorrowedBytes) {
    if known != nil {
      knownCount += 1
      return
    }
    if open.count == 0 { reopenEnd() }
    if !open.hasRoom(forRecordOf: record.count) { closeBlock() }
    open.append(record)
  }

  /// Appends a run of another list's records.
  ///
  /// O(log n) for n records there, and O(1) for each node or block that is shared whole; blocks at
  /// the edges of the run are copied.
  mutating func append(_ range: Range<Int>, of source: RecordList) {
    guard !range.isEmpty else { return }
    if known != nil {
      knownCount += range.count
      return
    }
    if open.count == 0, node.blocks.isEmpty, list.nodes.last?.isSmall == true { reopenEnd() }
    var place = place(of: range.lowerBound, in: source)
    var remaining = range.count
    while remaining > 0 {
      hint = place
      if place.slot == 0, place.item == 0, !open.isSmall {
        let nodes = source.nodes(from: place.node, holding: remaining)
        if let first = nodes.first {
          let before = count
          append(source.nodes[first])
          list.append(nodes.dropFirst(), of: source)
          remaining -= count - before
          place = RecordList.Place(node: nodes.upperBound)
          continue
        }
      }
      if place.item == 0, !open.isSmall {
        let content = source.nodes[place.node].content
        let slots = content.large(from: place.slot, holding: remaining)
        if let last = slots.last {
          closeBlock()
          addToNode(slots, of: content)
          remaining -= content.end(of: last) - content.starts[slots.lowerBound]
          let end = RecordList.Place(node: place.node, slot: last)
          place = source.place(afterBlockAt: end) ?? end
          continue
        }
      }
      let block = source.block(at: place)
      let taken = min(block.count - place.item, remaining)
      if taken == block.count {
        append(block)
      } else {
        copy(block, place.item..<place.item + taken)
      }
      remaining -= taken
      place = source.place(afterBlockAt: place) ?? place
    }
  }

  consuming func finish() -> RecordList {
    if let known { return known }
    close()
    return list
  }

  /// The list, and its blocks that no other list has.
  consuming func finishTellingMade() -> (list: RecordList, made: [MadeBlock]) {
    close()
    return (list, made)
  }

  /// A record that was appended before. O(log n), n records.
  // Good until something is appended.
  func bytes(_ offset: Int) -> BorrowedBytes {
    if let known {
      let place = known.place(of: offset)
      return known.block(at: place).bytes(place.item)
    }
    var offset = offset
    if offset < list.count {
      let place = list.place(of: offset)
      return list.block(at: place).bytes(place.item)
    }
    offset -= list.count
    if offset >= node.count { return open.bytes(offset - node.count) }
    let slot = node.starts.lastStart(notAfter: offset)
    return node.blocks[slot].bytes(offset - node.starts[slot])
  }

  private func place(of offset: Int, in source: RecordList) -> RecordList.Place {
    if hint.node < source.nodes.count, hint.slot < source.nodes[hint.node].blocks.count {
      let start = source.start(ofBlockAt: hint)
      let block = source.block(at: hint)
      if 0..<block.count ~= offset - start {
        return RecordList.Place(node: hint.node, slot: hint.slot, item: offset - start)
      }
    }
    return source.place(of: offset)
  }

  // MARK: - Nodes

  /// Takes the last node and the last block up again that were shared whole, where they have room: else what
  /// is appended to a list, again and again, is a node or a block each time. O(1).
  private mutating func reopenEnd() {
    if node.blocks.isEmpty {
      guard let last = list.nodes.last, last.hasRoom else { return }
      list.removeLast()
      node = last.content
    }
    if let block = node.blocks.last, block.hasRoom {
      node.removeLast()
      copy(block, 0..<block.count)
    }
  }

  /// Shares a node, or makes two of it and a few blocks before it.
  private mutating func append(_ whole: BlockNode) {
    closeBlock()
    if node.blocks.isEmpty || node.blocks.count >= BlockNode.minimumCount {
      closeNode()
      list.append(whole)
      return
    }
    // Two halves that are large enough to be left alone from now on.
    let blocks = node.blocks + whole.blocks
    let half = blocks.count > BlockNode.maximumCount ? blocks.count / 2 : blocks.count
    list.append(BlockNode(NodeBlocks(blocks[..<half])))
    if half < blocks.count { list.append(BlockNode(NodeBlocks(blocks[half...]))) }
    node = NodeBlocks()
  }

  private mutating func addToNode(_ block: RecordBlock) {
    node.append(block)
    if node.blocks.count == BlockNode.maximumCount { closeNode() }
  }

  /// Shares blocks of another node, none of which is small.
  private mutating func addToNode(_ slots: Range<Int>, of other: NodeBlocks) {
    var rest = slots
    while !rest.isEmpty {
      let taken = rest.prefix(BlockNode.maximumCount - node.blocks.count)
      node.append(taken, of: other)
      if node.blocks.count == BlockNode.maximumCount { closeNode() }
      rest = taken.upperBound..<rest.upperBound
    }
  }

  private mutating func closeNode() {
    if node.blocks.isEmpty { return }
    list.append(BlockNode(node))
    node = NodeBlocks()
  }

  // MARK: - Blocks

  /// Shares a block, or copies it where that keeps blocks from becoming ever smaller.
  private mutating func append(_ block: RecordBlock) {
    if block.isSmall || open.isSmall && open.hasRoom(for: block) {
      return copy(block, 0..<block.count)
    }
    if open.isSmall {
      // Both halves of what is in the two are large enough to be left alone from now on.
      let half = max(0, (block.count - open.count) / 2)
      copy(block, 0..<half)
      closeBlock()
      return copy(block, half..<block.count)
    }
    closeBlock()
    addToNode(block)
  }

  private mutating func copy(_ block: RecordBlock, _ items: Range<Int>) {
    var rest = items
    while !rest.isEmpty {
      let taken = open.append(block, rest)
      if taken > 0 { noteCopied(taken, of: block) }
      rest = rest.lowerBound + taken..<rest.upperBound
      if !rest.isEmpty { closeBlock() }
    }
  }

  /// Notes that the last `count` open records were copied from a block.
  private mutating func noteCopied(_ count: Int, of block: RecordBlock) {
    let start = open.count - count
    if let last = copied.indices.last, copied[last].source == block.id,
      copied[last].items.upperBound == start
    {
      copied[last].items = copied[last].items.lowerBound..<open.count
    } else {
      copied.append(MadeBlock.Run(source: block.id, items: start..<open.count))
    }
  }

  private mutating func closeBlock() {
    guard open.count > 0 else { return }
    let id = nameToTakeOver()
    if let id { takenOver.insert(id) }
    let block = open.take(id: id)
    made.append(MadeBlock(block: block, copied: copied))
    copied.removeAll(keepingCapacity: true)
    addToNode(block)
  }

  /// The name of the block that gave most of the open records, of those still to be had.
  private func nameToTakeOver() -> UInt64? {
    // One, two or three blocks, mostly.
    var counts: [(source: UInt64, count: Int)] = []
    for run in copied where !takenOver.contains(run.source) {
      if let index = counts.firstIndex(where: { $0.source == run.source }) {
        counts[index].count += run.items.count
      } else {
        counts.append((run.source, run.items.count))
      }
    }
    return counts.max { $0.count < $1.count }?.source
  }

  private mutating func close() {
    closeBlock()
    closeNode()
  }
}
