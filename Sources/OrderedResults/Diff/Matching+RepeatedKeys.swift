extension Matching {
  /// Whether one of the inserted records has the key of another new record; all that were paired
  /// have the different keys of different old records.
  ///
  /// Where keys are not integers close together, a hash of 64 bits stands for each: should two keys
  /// ever share one, the matching for repeated keys is taken, which is right for all.
  func insertedRepeatKeys() -> Bool {
    guard !inserted.isEmpty else { return false }
    let leftovers = Leftovers(inserted, of: new.records)
    if let keys = DenseKeys(leftovers, identity, maximumSpread: PlaceSet.maximumSpread) {
      return repeats(keys, count: leftovers.count)
    }
    var hashes = HashSet(minimumCapacity: inserted.totalCount)
    for hash in leftovers.hashes(identity, hasher) where !hashes.insert(hash) { return true }
    return hasPaired { hashes.contains(identity.hash($0, hasher)) }
  }

  /// The same for integers that lie close together, with a bit for each that there could be.
  private func repeats(_ keys: DenseKeys, count: Int) -> Bool {
    var places = PlaceSet(count: keys.spread)
    for number in 0..<count where !places.insert(keys.place(number)) { return true }
    return hasPaired { record in
      guard let key = identity.integer(record) else { return false }
      return places.contains(DenseKeys.place(of: key, from: keys.smallest))
    }
  }

  /// Whether there is a paired new record for which `isWanted` holds.
  @inline(__always)
  private func hasPaired(_ isWanted: (BorrowedBytes) -> Bool) -> Bool {
    var cursor = RecordCursor(new.records)
    for run in pairs {
      cursor.seek(Int(run.new))
      for _ in 0..<run.count {
        if isWanted(cursor.bytes) { return true }
        cursor.advance()
      }
    }
    return false
  }

  /// Whether a key repeats anywhere.
  ///
  /// O(n), n records.
  func hasDuplicateKeys(_ records: RecordList) -> Bool {
    var hashes = HashSet(minimumCapacity: records.count)
    var cursor = RecordCursor(records)
    while !cursor.isAtEnd {
      if !hashes.insert(identity.hash(cursor.bytes, hasher)) { return true }
      cursor.advance()
    }
    return false
  }
}
