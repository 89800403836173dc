extension Results {
  /// What identifies a record; nil where no key can be known.
  package func key(of record: Record) -> [Value]? { layout.key(of: record) }

  /// The offset of the first record with this key.
  ///
  /// O(n), n records.
  ///
  /// Integral reals equal integers, as in SQLite.
  package func offset(ofKey key: [Value]) -> Int? {
    guard let positions = layout.key, positions.count == key.count else { return nil }
    var values = [Value](repeating: .null, count: layout.columnCount)
    for (position, value) in zip(positions, key) { values[position] = value }
    let identity = Identity(layout)
    return Record(values).borrow { wanted in
      var cursor = RecordCursor(records)
      while !cursor.isAtEnd {
        if identity.isSame(cursor.bytes, wanted) { return cursor.offset }
        cursor.advance()
      }
      return nil
    }
  }
}

extension RecordLayout {
  /// What identifies a record; nil where no key can be known.
  package func key(of record: Record) -> [Value]? {
    key?.map { record.value($0) }
  }
}
