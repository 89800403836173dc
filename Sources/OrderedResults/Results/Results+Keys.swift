extension Results {
  /// What identifies a record; nil where no key can be known.
  package func key(of record: Record) -> [Value]? { layout.key(of: record) }

  /// The offset of the first record with this key.
  ///
  /// O(n), n records.
  ///
  /// Integral reals equal integers, as in SQLite.
  package func offset(ofKey key: [Value]) -> Int? {
    guard let wanted = layout.record(withKey: key) else { return nil }
    let identity = Identity(layout)
    return wanted.borrow { wanted in
      var cursor = RecordCursor(records)
      while !cursor.isAtEnd {
        if identity.isSame(cursor.bytes, wanted) { return cursor.offset }
        cursor.advance()
      }
      return nil
    }
  }

  /// The offset of the record with this key that is nearest to an offset; of two that are equally
  /// near, the later one.
  ///
  /// O(d log n), n records, d the distance, `limit` at most.
  package func offset(ofKey key: [Value], nearestTo offset: Int, within limit: Int = .max) -> Int? {
    guard count > 0, let wanted = layout.record(withKey: key) else { return nil }
    let identity = Identity(layout)
    let center = min(max(offset, 0), count - 1)
    return wanted.borrow { wanted in
      for distance in 0...min(limit, max(center, count - 1 - center)) {
        for offset in [center + distance, center - distance] where 0..<count ~= offset {
          if self[offset].borrow({ identity.isSame($0, wanted) }) { return offset }
        }
      }
      return nil
    }
  }

  /// Whether the records at two offsets share a key; false where there are no keys.
  package func isSameKey(_ first: Int, _ second: Int) -> Bool {
    guard layout.key != nil else { return false }
    let identity = Identity(layout)
    return self[first].borrow { first in self[second].borrow { identity.isSame(first, $0) } }
  }

  /// Whether two records may share a key.
  package var mayRepeatKeys: Bool { hasDuplicateKeys != false }
}

extension RecordLayout {
  /// What identifies a record; nil where no key can be known.
  package func key(of record: Record) -> [Value]? {
    key?.map { record.value($0) }
  }

  /// A record that has this key, and NULL elsewhere; nil where keys have another number of columns.
  func record(withKey key: [Value]) -> Record? {
    guard let positions = self.key, positions.count == key.count else { return nil }
    var values = [Value](repeating: .null, count: columnCount)
    for (position, value) in zip(positions, key) { values[position] = value }
    return Record(values)
  }
}
