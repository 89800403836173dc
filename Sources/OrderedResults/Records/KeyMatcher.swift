/// Knows the row with a certain key among rows that are read and not kept.
package struct KeyMatcher {
  private let wanted: Record
  private let identity: Identity

  /// - Returns: nil where rows have no key, or one of another number of columns.
  package init?(_ key: [Value], _ layout: RecordLayout) {
    guard let wanted = layout.record(withKey: key) else { return nil }
    self.wanted = wanted
    identity = Identity(layout)
  }

  /// Whether a row has the key, as SQLite compares: 1 and 1.0 are one key.
  ///
  /// O(b), b bytes to the end of the key.
  package func matches(_ row: borrowing RecordEncoder) -> Bool {
    let bytes = row.bytes
    return wanted.borrow { identity.isSame(bytes, $0) }
  }
}
