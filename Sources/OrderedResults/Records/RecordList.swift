/// Records in order: a counted tree of three levels, whose copies share what they have in common.
///
/// A list is an array of pages, a page an array of blocks, a block at most 128 records in one
/// allocation. Reading is O(log n), and a list that differs in k places from another costs
/// O(k + n / 8192) beside the records themselves: a million records are some 122 pages.
struct RecordList: Sendable {
  private(set) var pages: [BlockPage] = []
  /// For each page, how many records stand before it.
  private(set) var starts: [Int] = []
  private(set) var count = 0

  /// Where a record is.
  struct Place: Equatable {
    var page = 0
    var slot = 0
    var item = 0
  }

  /// O(1), amortized.
  mutating func append(_ page: BlockPage) {
    pages.append(page)
    starts.append(count)
    count += page.count
  }

  /// Appends pages of another list.
  ///
  /// O(pages), without a look into any.
  mutating func append(_ range: Range<Int>, of source: RecordList) {
    guard let first = range.first else { return }
    let shift = count - source.starts[first]
    pages.append(contentsOf: source.pages[range])
    for start in source.starts[range] { starts.append(start + shift) }
    count = shift + source.end(ofPage: range.upperBound - 1)
  }

  /// The pages from `first` on that are whole among `count` records.
  ///
  /// O(log n), n records.
  func pages(from first: Int, holding count: Int) -> Range<Int> {
    let end = starts[first] + count
    if end >= self.count { return first..<pages.count }
    return first..<max(first, starts.lastStart(notAfter: end))
  }

  private func end(ofPage page: Int) -> Int {
    page + 1 < starts.count ? starts[page + 1] : count
  }

  /// The place of the record at an offset.
  ///
  /// O(log n), n records; O(1) for the page where pages are equally full, as they are after a
  /// first fetch.
  func place(of offset: Int) -> Place {
    precondition(0..<count ~= offset, "no record \(offset) among \(count)")
    let page = page(of: offset)
    let rest = offset - starts[page]
    let slot = pages[page].slot(of: rest)
    return Place(page: page, slot: slot, item: rest - pages[page].starts[slot])
  }

  private func page(of offset: Int) -> Int {
    let guess = offset / (BlockPage.maximumCount * RecordBlock.maximumCount)
    if guess < pages.count, 0..<pages[guess].count ~= offset - starts[guess] { return guess }
    return starts.lastStart(notAfter: offset)
  }

  /// The place of the next block's first record; nil behind the last block.
  func place(afterBlockAt place: Place) -> Place? {
    if place.slot + 1 < pages[place.page].blocks.count {
      return Place(page: place.page, slot: place.slot + 1)
    }
    return place.page + 1 < pages.count ? Place(page: place.page + 1) : nil
  }

  /// The last block; its first record's place. There must be one.
  var lastBlock: Place {
    Place(page: pages.count - 1, slot: pages[pages.count - 1].blocks.count - 1)
  }

  func block(at place: Place) -> RecordBlock { pages[place.page].blocks[place.slot] }

  /// How many records stand before a block.
  func start(ofBlockAt place: Place) -> Int {
    starts[place.page] + pages[place.page].starts[place.slot]
  }

  /// All blocks, in order.
  var blocks: [RecordBlock] { pages.flatMap(\.blocks) }

  /// O(log n), n records.
  subscript(offset: Int) -> Record {
    let place = place(of: offset)
    return block(at: place).record(place.item)
  }
}

extension BlockPage {
  /// The block of a record, counted in the page.
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
