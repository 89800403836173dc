import HeldMemory

/// In which blocks of a result the records of an owner are.
///
/// An owner is whatever a record is made of, by a number: a row, or a group of rows. The index names
/// blocks and not records, so a change costs only what it moves from block to block; a record is
/// then found by a look through its block.
///
/// Memory: 12 bytes an owner, over the load of a hash table, for owners of one record.
package struct OwnerIndex: Sendable {
  /// The blocks by the numbers that they have here; those that are free hold none.
  private(set) var blocks: [RecordBlock?] = []
  /// How many records of each block are entered.
  private(set) var counts: [Int] = []
  private(set) var free: [UInt32] = []
  private(set) var numbers: [UInt64: UInt32] = [:]
  private(set) var first: [Int64: UInt32]
  /// Of the owners that have several records, the blocks of all but the first.
  private(set) var others: [Int64: [UInt32]] = [:]
  private let charge = MemoryCharge(isOfAid: true)

  /// About the bytes of an owner, with what the table leaves free.
  private static let bytesPerOwner = 20
  /// So many numbers are compared sooner than one is hashed.
  private static let quicklyCompared = 8

  /// O(n) for the n records of `results`.
  ///
  /// - Parameters:
  ///   - results: have the records.
  ///   - wanted: the only owners that are entered, which are few; nil: all.
  ///   - owner: the number of a record's owner.
  package init(_ results: Results, among wanted: [Int64]? = nil, owner: (Record) -> Int64) {
    self.init(results, among: wanted) { block, body in
      for item in 0..<block.count { body(owner(block.record(item))) }
    }
  }

  /// The same for owners whose number stands in a column of their records, which has integers only.
  package init(_ results: Results, ownersInColumn column: Int, among wanted: [Int64]? = nil) {
    self.init(results, among: wanted) { block, body in block.forEachInteger(inColumn: column, body)
    }
  }

  private init(
    _ results: Results, among wanted: [Int64]?, owners: (RecordBlock, (Int64) -> Void) -> Void
  ) {
    first = Dictionary(minimumCapacity: wanted?.count ?? results.count)
    let many = wanted.flatMap { $0.count > Self.quicklyCompared ? Set($0) : nil }
    for block in results.records.blocks {
      let number = number(of: block.id)
      blocks[Int(number)] = block
      owners(block) {
        if let wanted, !(many?.contains($0) ?? wanted.contains($0)) { return }
        enter($0, number)
      }
    }
    charge.set(size)
  }

  /// About its bytes. O(1).
  package var size: Int { Self.size(of: first.count) }

  /// The same of an index of so many owners.
  package static func size(of count: Int) -> Int { count * bytesPerOwner }

  /// Whether an owner has a record. O(1).
  package func contains(_ owner: Int64) -> Bool { first[owner] != nil }

  /// The records of an owner, those that `isOwned` in its blocks.
  ///
  /// O(b), b records of the owner's blocks.
  package func records(of owner: Int64, isOwned: (Record) -> Bool) -> [Record] {
    blocks(of: owner).flatMap { block in
      (0..<block.count).lazy.map(block.record).filter(isOwned)
    }
  }

  /// The same for owners whose number stands in a column of their records.
  package func records(of owner: Int64, inColumn column: Int) -> [Record] {
    blocks(of: owner).flatMap { $0.records(with: owner, inColumn: column) }
  }

  private func blocks(of owner: Int64) -> [RecordBlock] {
    guard let number = first[owner] else { return [] }
    guard !others.isEmpty, let others = others[owner] else {
      return blocks[Int(number)].map { [$0] } ?? []
    }
    return Set([number] + others).compactMap { blocks[Int($0)] }
  }

  /// Follows a replacement in the results.
  ///
  /// O(k + m), k records that went and m that came into other blocks.
  ///
  /// - Parameters:
  ///   - removed: the records that went, in the blocks of the results before.
  ///   - made: the blocks that the replacement made.
  ///   - owner: the number of a record's owner.
  package mutating func follow(
    removed: [Record], made: [MadeBlock], owner: (Record) -> Int64
  ) {
    for record in removed {
      if let number = numbers[record.block.id] { leave(owner(record), number) }
    }
    for made in made {
      let number = number(of: made.block.id)
      blocks[Int(number)] = made.block
      made.forEachNewcomer { record, source in
        let owner = owner(record)
        if let source, let left = numbers[source] { leave(owner, left) }
        enter(owner, number)
      }
    }
    for made in made { freeIfEmpty(made) }
    for record in removed { freeIfEmpty(record.block.id) }
    charge.set(size)
  }

  private mutating func enter(_ owner: Int64, _ number: UInt32) {
    counts[Int(number)] += 1
    guard let known = first.updateValue(number, forKey: owner) else { return }
    others[owner, default: []].append(known)
  }

  private mutating func leave(_ owner: Int64, _ number: UInt32) {
    counts[Int(number)] -= 1
    if first[owner] == number {
      first[owner] = others[owner]?.popLast()
    } else if let index = others[owner]?.firstIndex(of: number) {
      others[owner]?.remove(at: index)
    }
    if others[owner]?.isEmpty == true { others[owner] = nil }
  }

  // MARK: - Numbers

  private mutating func number(of id: UInt64) -> UInt32 {
    if let number = numbers[id] { return number }
    let number: UInt32
    if let used = free.popLast() {
      number = used
    } else {
      number = UInt32(blocks.count)
      blocks.append(nil)
      counts.append(0)
    }
    numbers[id] = number
    return number
  }

  private mutating func freeIfEmpty(_ made: MadeBlock) {
    for run in made.copied where run.source != made.block.id { freeIfEmpty(run.source) }
  }

  /// Lets go of a block whose records are all elsewhere, or gone.
  private mutating func freeIfEmpty(_ id: UInt64) {
    guard let number = numbers[id], counts[Int(number)] == 0 else { return }
    numbers[id] = nil
    blocks[Int(number)] = nil
    free.append(number)
  }
}
