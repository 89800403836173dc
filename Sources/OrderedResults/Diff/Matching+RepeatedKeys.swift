extension Matching {
  /// Whether one of the inserted records has the key of another new record; all that were paired
  /// have the different keys of different old records.
  ///
  /// Where keys are not integers close together, a hash of 64 bits stands for each: should two keys
  /// ever share one, the matching for repeated keys is taken, which is right for all.
  func insertedRepeatKeys() -> Bool {
    guard !inserted.isEmpty else { return false }
    let records = FlatRecords(new.records)
    let numbers = records.numbers(in: inserted)
    if let keys = DenseKeys(
      numbers, of: records, identity, maximumSpread: PlaceSet.maximumSpread)
    {
      return repeats(keys)
    }
    var hashes = HashSet(minimumCapacity: numbers.count)
    for number in numbers
    where !hashes.insert(identity.hash(records.bytes(number), hasher)) { return true }
    return hasPaired { hashes.contains(identity.hash($0, hasher)) }
  }

  /// The same for integers that lie close together, with a bit for each that there could be.
  private func repeats(_ keys: DenseKeys) -> Bool {
    var places = PlaceSet(count: keys.spread)
    for position in 0..<keys.count where !places.insert(keys.place(at: position)) { return true }
    return hasPaired { record in
      guard let key = identity.integer(record) else { return false }
      return places.contains(keys.place(of: key))
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
