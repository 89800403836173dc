// Rows that do not simply continue a run.

extension ResultsBuilder {
  /// Takes a row, after whatever is the matter with it.
  @usableFromInline
  mutating func place(_ row: BorrowedBytes, columns: Int) {
    precondition(
      columns == old.layout.columnCount, "\(columns) columns, not \(old.layout.columnCount)")
    if misses > 0, isMissedAgain(row) { return miss(row) }
    cursor.settle()
    if !cursor.isAtEnd, continueRun(row) { return }
    endRun()
    if !cursor.isAtEnd {
      if pairWithNext(row) { return }
      if lookAhead(row) {
        _ = continueRun(row) || pairWithNext(row)
        return
      }
      if misses == 0 { awaitedKey = identity.integer(cursor.bytes) }
    }
    if prefix == nil { prefix = list.count }
    miss(row)
  }

  /// Takes a row that fits nowhere.
  @inline(__always)
  private mutating func miss(_ row: BorrowedBytes) {
    misses += 1
    sections.add(row, at: list.count)
    list.append(row)
  }

  /// Whether a row has another key than the next old record, as the row before, and does not have
  /// to be looked for: for many rows in succession this is all that is asked.
  @inline(__always)
  private func isMissedAgain(_ row: BorrowedBytes) -> Bool {
    guard !mustLookAhead, let awaitedKey, let key = identity.integer(row) else { return false }
    return key != awaitedKey
  }

  /// At how many missed rows the next one is looked for: one less than a power of two.
  private var nextLook: Int { 1 << (Int.bitWidth - misses.leadingZeroBitCount) - 1 }

  private var mustLookAhead: Bool { misses > 0 && misses == nextLook }

  /// Takes the records of a block that are missed again, one after the other, of results that are
  /// there already.
  ///
  /// - Returns: how many there are.
  mutating func missAgain(_ block: RecordBlock, from first: Int) -> Int {
    guard let awaitedKey else { return 0 }
    let most = min(block.count - first, nextLook - misses)
    var count = 0
    while count < most, let key = identity.integer(block.bytes(first + count)), key != awaitedKey {
      count += 1
    }
    misses += count
    list.pass(count)
    return count
  }

  /// Takes a row that equals the next old record.
  private mutating func continueRun(_ row: BorrowedBytes) -> Bool {
    guard cursor.bytes.isEqual(to: row) else { return false }
    let offset = cursor.offset
    if let run {
      if isSectionStart(offset) {
        // The record before was the last of its section, in both results.
        sections.add(like: old.sections[nextSection], at: run.new + offset - run.old)
      }
    } else {
      sections.add(row, at: list.count)
      run = (offset, list.count)
    }
    misses = 0
    passSections(offset)
    cursor.item += 1
    let next = nextSection < old.sections.count ? old.sections.offset(nextSection) : .max
    runLimit = min(cursor.blockCount, cursor.item(ofOffset: next))
    return true
  }

  private func isSectionStart(_ offset: Int) -> Bool {
    nextSection < old.sections.count && old.sections.offset(nextSection) == offset
  }

  /// Amortized: each old section is passed once.
  private mutating func passSections(_ offset: Int) {
    while nextSection < old.sections.count, old.sections.offset(nextSection) <= offset {
      nextSection += 1
    }
  }

  /// Writes down the run, if there is one.
  mutating func endRun() {
    runLimit = 0
    guard let run else { return }
    let count = cursor.offset - run.old
    list.append(run.old..<cursor.offset, of: old.records)
    pairs.add(PairRun(old: run.old, new: run.new, count: count, isChanged: false))
    self.run = nil
  }

  /// Takes a row that is the next old record with other columns.
  private mutating func pairWithNext(_ row: BorrowedBytes) -> Bool {
    let next = cursor.bytes
    guard identity.isSame(next, row) else { return false }
    let isChanged = !old.layout.showsSame(next, row)
    pairs.add(PairRun(old: cursor.offset, new: list.count, count: 1, isChanged: isChanged))
    sections.add(row, at: list.count)
    list.append(row)
    cursor.advance()
    misses = 0
    return true
  }

  /// Looks for the row among the old records to come, and goes there.
  ///
  /// Not for the first row that fits nowhere: it may be inserted, or moved from far away, and the
  /// row after it will tell. Then at the second, the fourth, the eighth, … and farther each time,
  /// so that m rows that are never found cost O(m) together, and so does finding the end of a gap
  /// of m deleted records.
  private mutating func lookAhead(_ row: BorrowedBytes) -> Bool {
    guard mustLookAhead else { return false }
    let start = cursor.mark
    let from = cursor.offset
    let distance = 16 + 2 * misses
    let isFound =
      if identity.isFirstColumn, let key = RecordStart(firstColumnOf: row) {
        // 1 and 1.0 are not found so; that one key is of two types is left to the matching.
        cursor.advance(among: distance) { key.isSame($0) && identity.isSame($0, row) }
      } else if let integer = identity.integer(row) {
        cursor.advance(among: distance) { identity.integer($0) == integer }
      } else {
        cursor.advance(among: distance) { identity.isSame($0, row) }
      }
    if isFound {
      pairMissed(notBefore: from)
      return true
    }
    cursor.go(to: start)
    return false
  }

  /// Pairs the rows that fitted nowhere with the old records right before the next one, which fits.
  private mutating func pairMissed(notBefore start: Int) {
    let fitting = cursor.mark
    let end = cursor.offset
    var count = 0
    while count < min(misses, end - start) {
      cursor.seek(end - count - 1)
      guard identity.isSame(cursor.bytes, list.bytes(list.count - count - 1)) else { break }
      count += 1
    }
    for distance in stride(from: count, to: 0, by: -1) {
      cursor.seek(end - distance)
      let new = list.count - distance
      let isChanged = !old.layout.showsSame(cursor.bytes, list.bytes(new))
      pairs.add(PairRun(old: end - distance, new: new, count: 1, isChanged: isChanged))
    }
    cursor.go(to: fitting)
  }
}
