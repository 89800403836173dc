extension Matching {
  /// Whether one of the inserted records has the key of another new record; all that were paired
  /// have the different keys of different old records.
  ///
  /// A hash of 64 bits stands for each: should two keys ever share one, the matching for repeated
  /// keys is taken, which is right for all.
  func insertedRepeatKeys() -> Bool {
    guard !inserted.isEmpty else { return false }
    let records = FlatRecords(new.records)
    let numbers = records.numbers(in: inserted)
    var hashes = HashSet(minimumCapacity: numbers.count)
    for number in numbers
    where !hashes.insert(identity.hash(records.bytes(number), hasher)) { return true }
    var cursor = RecordCursor(new.records)
    for run in pairs {
      cursor.seek(Int(run.new))
      for _ in 0..<run.count {
        if hashes.contains(identity.hash(cursor.bytes, hasher)) { return true }
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
