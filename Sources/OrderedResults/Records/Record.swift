/// One row, immutable: its columns as SQLite gave them, hidden ones included, in one run of bytes.
///
/// A record is a slice of a block that it shares with its neighbours; holding it keeps that block
/// (a few kilobytes) alive.
package struct Record: Sendable {
  @usableFromInline let block: RecordBlock
  @usableFromInline let offset: UInt32
  @usableFromInline let length: UInt32

  init(block: RecordBlock, offset: Int, length: Int) {
    self.block = block
    self.offset = UInt32(truncatingIfNeeded: offset)
    self.length = UInt32(truncatingIfNeeded: length)
  }

  /// A record of these values.
  package init(_ values: [Value]) {
    var encoder = RecordEncoder()
    encoder.begin()
    for value in values { encoder.append(value) }
    self = encoder.makeRecord()
  }

  /// How many bytes the columns take.
  @inlinable package var byteCount: Int { Int(length) }

  /// The encoded columns, whose form is described at ``ColumnReader``.
  ///
  /// The pointer ends with the call.
  @inlinable
  package func withBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try borrow { (bytes) throws(E) -> R in
      try body(UnsafeRawBufferPointer(start: bytes.start, count: bytes.count))
    }
  }

  @inlinable
  func borrow<R, E: Error>(_ body: (BorrowedBytes) throws(E) -> R) throws(E) -> R {
    // self holds the block until the call returns.
    defer { withExtendedLifetime(block) {} }
    return try body(BorrowedBytes(start: block.memory + Int(offset), count: Int(length)))
  }

  /// The columns from the first to the last.
  ///
  /// The reader and what it returns end with the call.
  @inlinable
  package func withColumns<R, E: Error>(
    _ body: (inout ColumnReader) throws(E) -> R
  ) throws(E) -> R {
    try borrow { (bytes) throws(E) -> R in
      var columns = bytes.columns
      return try body(&columns)
    }
  }

  /// The value of a column.
  ///
  /// O(c + b), c its position, b the bytes of its text or blob.
  package func value(_ column: Int) -> Value {
    withColumns { reader in
      reader.skip(column)
      guard let view = reader.next() else { preconditionFailure("no column \(column)") }
      return view.value
    }
  }

  /// All columns, hidden ones too.
  package var values: [Value] {
    withColumns { reader in
      var values: [Value] = []
      while let view = reader.next() { values.append(view.value) }
      return values
    }
  }
}

extension Record: Equatable {
  /// Whether all columns are equal, hidden ones too; 1 and 1.0 are different.
  ///
  /// O(b), b bytes.
  package static func == (left: Record, right: Record) -> Bool {
    left.borrow { left in right.borrow { right in left.isEqual(to: right) } }
  }
}
