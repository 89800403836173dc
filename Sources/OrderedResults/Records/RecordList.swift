/// Records in order: a counted tree of three levels, whose copies share what they have in common.
///
/// A list is an array of nodes, a node an array of blocks, a block at most 128 records in one
/// allocation. Reading is O(log n), and a list that differs in k places from another costs
/// O(k + n / 8192) beside the records themselves: a million records are some 122 nodes.
struct RecordList: Sendable {
  private(set) var nodes: [BlockNode] = []
  /// For each node, how many records stand before it.
  private(set) var starts: [Int] = []
  private(set) var count = 0

  /// Where a record is.
  struct Place: Equatable {
    var node = 0
    var slot = 0
    var item = 0
  }

  /// O(1), amortized.
  mutating func append(_ node: BlockNode) {
    nodes.append(node)
    starts.append(count)
    count += node.count
  }

  /// Appends nodes of another list.
  ///
  /// O(nodes), without a look into any.
  mutating func append(_ range: Range<Int>, of source: RecordList) {
    guard let first = range.first else { return }
    let shift = count - source.starts[first]
    nodes.append(contentsOf: source.nodes[range])
    for start in source.starts[range] { starts.append(start + shift) }
    count = shift + source.end(ofNode: range.upperBound - 1)
  }

  /// Takes the last node away, of which there must be one.
  mutating func removeLast() {
    count -= nodes.removeLast().count
    starts.removeLast()
  }

  /// The nodes from `first` on that are whole among `count` records.
  ///
  /// O(log n), n records.
  func nodes(from first: Int, holding count: Int) -> Range<Int> {
    let end = starts[first] + count
    if end >= self.count { return first..<nodes.count }
    return first..<max(first, starts.lastStart(notAfter: end))
  }

  private func end(ofNode node: Int) -> Int {
    node + 1 < starts.count ? starts[node + 1] : count
  }

  /// The place of the record at an offset.
  ///
  /// O(log n), n records; O(1) for the node where nodes are equally full, as they are after a
  /// first fetch.
  func place(of offset: Int) -> Place {
    precondition(0..<count ~= offset, "no record \(offset) among \(count)")
    let node = node(of: offset)
    let rest = offset - starts[node]
    let slot = nodes[node].slot(of: rest)
    return Place(node: node, slot: slot, item: rest - nodes[node].starts[slot])
  }

  private func node(of offset: Int) -> Int {
    let guess = offset / (BlockNode.maximumCount * RecordBlock.maximumCount)
    if guess < nodes.count, 0..<nodes[guess].count ~= offset - starts[guess] { return guess }
    return starts.lastStart(notAfter: offset)
  }

  /// The place of the next block's first record; nil behind the last block.
  func place(afterBlockAt place: Place) -> Place? {
    if place.slot + 1 < nodes[place.node].blocks.count {
      return Place(node: place.node, slot: place.slot + 1)
    }
    return place.node + 1 < nodes.count ? Place(node: place.node + 1) : nil
  }

  /// The last block; its first record's place. There must be one.
  var lastBlock: Place {
    Place(node: nodes.count - 1, slot: nodes[nodes.count - 1].blocks.count - 1)
  }

  func block(at place: Place) -> RecordBlock { nodes[place.node].blocks[place.slot] }

  /// How many records stand before a block.
  func start(ofBlockAt place: Place) -> Int {
    starts[place.node] + nodes[place.node].starts[place.slot]
  }

  /// All blocks, in order.
  var blocks: [RecordBlock] { nodes.flatMap(\.blocks) }

  /// O(log n), n records.
  subscript(offset: Int) -> Record {
    let place = place(of: offset)
    return block(at: place).record(place.item)
  }
}

extension BlockNode {
  /// The block of a record, counted in the node.
  fileprivate func slot(of offset: Int) -> Int {
    let guess = offset / RecordBlock.maximumCount
    if guess < blocks.count, 0..<blocks[guess].count ~= offset - starts[guess] { return guess }
    return starts.lastStart(notAfter: offset)
  }
}

/// The records of a range of offsets, in order.
package struct RecordSequence: Sequence, IteratorProtocol, Sendable {
  private let list: RecordList
  private var place = RecordList.Place()
  private var block: RecordBlock?
  private var remaining: Int

  init(_ list: RecordList, _ range: Range<Int>) {
    precondition(range.lowerBound >= 0 && range.upperBound <= list.count, "\(range)")
    self.list = list
    remaining = range.count
    guard remaining > 0 else { return }
    place = list.place(of: range.lowerBound)
    block = list.block(at: place)
  }

  package var underestimatedCount: Int { remaining }

  package mutating func next() -> Record? {
    guard remaining > 0, var current = block else { return nil }
    remaining -= 1
    if place.item == current.count {
      guard let next = list.place(afterBlockAt: place) else { return nil }
      place = next
      current = list.block(at: place)
      block = current
    }
    defer { place.item += 1 }
    return current.record(place.item)
  }
}
