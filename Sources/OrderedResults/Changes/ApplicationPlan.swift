/// The changes of a change set, sorted by the step in which they are applied.
struct ApplicationPlan {
  /// A section of the new result, not filled yet.
  struct Frame {
    var name: Value
    var indexTitle: String
    /// Which old section it was; nil: none.
    var old: Int?
  }

  private typealias Arrival = (path: IndexPath, record: Record)
  private typealias Update = (from: IndexPath, to: IndexPath, old: Record, new: Record)

  private let results: Results
  /// Old offsets of records to be taken out, ascending.
  private var departures: [Int] = []
  /// Records to be put in, ascending.
  private var arrivals: [Arrival] = []
  private var updates: [Update] = []
  private var nextDeparture = 0
  private var nextArrival = 0
  private var nextUpdate = 0

  /// Step 1: takes out the records named by deletions and moves.
  init(_ changes: RecordChanges, to results: Results) throws(ApplyError) {
    self.results = results
    var order = OrderCheck()
    for change in changes {
      try order.check(change)
      switch change {
      case .deletion(let path, let record):
        try depart(path, record)
      case .move(let from, let to, let old, let new):
        try depart(from, old)
        arrivals.append((to, new))
      case .insertion(let path, let record):
        arrivals.append((path, record))
      case .update(let from, let to, let old, let new):
        updates.append((from, to, old, new))
      }
    }
    departures.reverse()
    arrivals.sort { $0.path < $1.path }
    for (left, right) in zip(arrivals, arrivals.dropFirst()) where left.path == right.path {
      throw .outOfOrder(right.path)
    }
  }

  private mutating func depart(_ path: IndexPath, _ record: Record) throws(ApplyError) {
    guard results.contains(path) else { throw .noRecord(at: path) }
    guard results.layout.showsSame(results[path], record) else { throw .otherRecord(at: path) }
    departures.append(results.offset(of: path))
  }

  /// Step 2: the old sections that remain, when those named by deletions are taken out.
  func removeSections(_ changes: [SectionChange]) throws(ApplyError) -> [Int] {
    var isRemoved = [Bool](repeating: false, count: results.sections.count)
    var last = Int.max
    for case .deletion(let index, let name, let indexTitle) in changes {
      guard index < last else { throw .sectionOutOfOrder(index) }
      guard results.sections.indices ~= index else { throw .noSection(index) }
      let section = results.sections[index]
      guard section.name == name, section.indexTitle == indexTitle else {
        throw .otherSection(index)
      }
      let offsets = results.sections.offsets(index)
      let remaining = offsets.count - departures(in: offsets)
      guard remaining == 0 else {
        throw .sectionNotEmpty(index, numberOfRecords: remaining)
      }
      isRemoved[index] = true
      last = index
    }
    return isRemoved.indices.filter { !isRemoved[$0] }
  }

  private func departures(in offsets: Range<Int>) -> Int {
    firstDeparture(from: offsets.upperBound) - firstDeparture(from: offsets.lowerBound)
  }

  private func firstDeparture(from offset: Int) -> Int {
    var (low, high) = (0, departures.count)
    while low < high {
      let middle = (low + high) / 2
      if departures[middle] < offset { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Step 3: the new sections, with those named by insertions put in, empty.
  func insertSections(
    _ changes: [SectionChange], among remaining: [Int]
  ) throws(ApplyError) -> [Frame] {
    var frames: [Frame] = []
    var rest = remaining[...]
    func keep(_ index: Int) {
      let section = results.sections[index]
      frames.append(Frame(name: section.name, indexTitle: section.indexTitle, old: index))
    }
    for change in changes {
      guard case .insertion(let index, let name, let indexTitle) = change else {
        // Deletions come first.
        guard frames.isEmpty else { throw .sectionOutOfOrder(frames.count) }
        continue
      }
      guard index >= frames.count else { throw .sectionOutOfOrder(index) }
      while frames.count < index {
        guard let next = rest.popFirst() else { throw .noPlaceForSection(index) }
        keep(next)
      }
      frames.append(Frame(name: name, indexTitle: indexTitle, old: nil))
    }
    for index in rest { keep(index) }
    return frames
  }

  /// Steps 4 and 5 for one section: the records that stayed, between them those that come, and in
  /// place of them those that changed.
  mutating func fill(
    _ section: Int, _ frame: Frame, into list: inout RecordListBuilder
  ) throws(ApplyError) {
    let start = list.count
    var rest = frame.old.map { results.sections.offsets($0) } ?? 0..<0
    nextDeparture = firstDeparture(from: rest.lowerBound)
    while true {
      let item = list.count - start
      let arrival = nextArrival < arrivals.count ? arrivals[nextArrival] : nil
      let update = nextUpdate < updates.count ? updates[nextUpdate] : nil
      if let arrival, arrival.path == IndexPath(section: section, item: item) {
        arrival.record.borrow { list.append($0) }
        nextArrival += 1
      } else if nextDeparture < departures.count, departures[nextDeparture] == rest.lowerBound,
        !rest.isEmpty
      {
        rest = rest.dropFirst()
        nextDeparture += 1
      } else if let update, update.to == IndexPath(section: section, item: item), !rest.isEmpty {
        try replace(rest.lowerBound, update)
        update.new.borrow { list.append($0) }
        rest = rest.dropFirst()
        nextUpdate += 1
      } else if !rest.isEmpty {
        let stop = min(
          rest.upperBound, nextDeparture < departures.count ? departures[nextDeparture] : .max,
          rest.lowerBound + distance(to: arrival?.path, section, item),
          rest.lowerBound + distance(to: update?.to, section, item))
        list.append(rest.lowerBound..<stop, of: results.records)
        rest = stop..<rest.upperBound
      } else {
        return
      }
    }
  }

  /// How many records come before the next one to be put in or replaced.
  private func distance(to path: IndexPath?, _ section: Int, _ item: Int) -> Int {
    guard let path, path.section == section, path.item > item else { return results.count }
    return min(path.item - item, results.count)
  }

  private func replace(_ offset: Int, _ update: Update) throws(ApplyError) {
    guard results.contains(update.from), results.offset(of: update.from) == offset,
      results.layout.showsSame(results[offset], update.old)
    else { throw .otherRecord(at: update.to) }
  }

  /// Whatever is left over named a place that does not exist.
  func checkAllPlaced() throws(ApplyError) {
    if nextArrival < arrivals.count { throw .noPlace(at: arrivals[nextArrival].path) }
    if nextUpdate < updates.count { throw .noRecord(at: updates[nextUpdate].to) }
  }
}
