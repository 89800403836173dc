extension Results {
  /// The digest of what the records show, in their order; sections and their names are in it.
  ///
  /// Results that show the same have the same digest under one key, however they came about. It is
  /// kept beside the records: O(k + n / 8192) for k records that no result had that was asked before,
  /// n records; and O(s), s sections, where index titles are in a column that is not selected.
  ///
  /// - Parameters:
  ///   - key: what it is made with.
  ///   - old: the result before, which was asked with the same key: of a block that took another's
  ///     place only what differs is hashed.
  /// - Returns: the digest.
  package func digest(by key: DigestKey, after old: Results? = nil) -> RunDigest {
    let shown = ShownColumns(layout)
    let known = old.flatMap { ShownColumns($0.layout) == shown ? $0.records.nodes : nil } ?? []
    var digest = RunDigest()
    for index in records.nodes.indices {
      digest.append(
        records.nodes[index].digest(
          by: key, shown, after: index < known.count ? known[index] : nil))
    }
    // All other titles come of what the records show.
    if let title = layout.sectionIndexTitle, title >= shown.visible {
      for section in sections { digest.append(key.digest(of: section.indexTitle)) }
    }
    return digest
  }
}

// The block or node before is only looked for where a digest is not known: nearly all are.
extension BlockNode {
  fileprivate func digest(
    by key: DigestKey, _ shown: ShownColumns, after old: @autoclosure () -> BlockNode?
  ) -> RunDigest {
    if let values = digest.known, let powers = digestPowers.known {
      return RunDigest(values: values, powers: powers)
    }
    // Of blocks whose digests are kept, but for a few.
    let (blocks, known) = (blocks, old()?.blocks ?? [])
    var run = RunDigest()
    for index in blocks.indices {
      run.append(
        blocks[index].digest(by: key, shown, after: index < known.count ? known[index] : nil))
    }
    digest.keep(run.values)
    digestPowers.keep(run.powers)
    return run
  }
}

extension RecordBlock {
  fileprivate func digest(
    by key: DigestKey, _ shown: ShownColumns, after old: @autoclosure () -> RecordBlock?
  ) -> RunDigest {
    if let values = digest.known { return key.run(of: count, values: values) }
    let run =
      old().flatMap { self.run(by: key, shown, replacing: $0) }
      ?? run(0..<count, by: key, shown)
    digest.keep(run.values)
    return run
  }

  private func run(_ items: Range<Int>, by key: DigestKey, _ shown: ShownColumns) -> RunDigest {
    key.run(of: items.count) { key.hash(bytes(items.lowerBound + $0), shown) }
  }

  /// The digest out of that of the block whose place this one took: the part that differs is taken out
  /// of it, and the new one put in.
  ///
  /// - Returns: nil where that digest is not known, or to hash all is less work.
  private func run(
    by key: DigestKey, _ shown: ShownColumns, replacing old: RecordBlock
  ) -> RunDigest? {
    guard old.id == id, old.count <= count, let values = old.digest.known else { return nil }
    let start = commonStart(with: old)
    let end = commonEnd(with: old, atMost: old.count - start)
    // Where as many records came as went, those behind them count as they did.
    let hasMoved = old.count < count
    guard old.count + count - 2 * (start + end) + (hasMoved ? end : 0) < count else { return nil }
    return key.run(
      of: count, values: values, of: old.count,
      replacing: old.run(start..<old.count - end, by: key, shown),
      by: run(start..<count - end, by: key, shown),
      before: hasMoved
        ? run(count - end..<count, by: key, shown) : key.run(of: end, values: (0, 0)))
  }

  /// How many of the first records are the same in another block. O(b), b bytes of these.
  private func commonStart(with other: RecordBlock) -> Int {
    let (start, otherStart) = (bounds[0], other.bounds[0])
    let equal = BorrowedBytes(start: memory + Int(start), count: byteCount).commonStart(
      with: BorrowedBytes(start: other.memory + Int(otherStart), count: other.byteCount))
    var item = 0
    while item < min(count, other.count), Int(bounds[item + 1] &- start) <= equal,
      bounds[item + 1] &- start == other.bounds[item + 1] &- otherStart
    {
      item += 1
    }
    return item
  }

  /// How many of the last records are the same in another block, at most so many. O(b), b bytes of
  /// these.
  private func commonEnd(with other: RecordBlock, atMost most: Int) -> Int {
    let (end, otherEnd) = (bounds[count], other.bounds[other.count])
    let equal = BorrowedBytes(start: memory + Int(bounds[0]), count: byteCount).commonEnd(
      with: BorrowedBytes(start: other.memory + Int(other.bounds[0]), count: other.byteCount))
    var items = 0
    while items < min(most, count), Int(end &- bounds[count - items - 1]) <= equal,
      end &- bounds[count - items - 1] == otherEnd &- other.bounds[other.count - items - 1]
    {
      items += 1
    }
    return items
  }
}
