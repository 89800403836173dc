extension Claims {
  /// The claim that a configuration names, or nil where there is none.
  ///
  /// A claim of exactly this name comes first, dots and all. If there is none, each dot may lead into
  /// an object, the last dot first: `org.id` is the `id` of `org`, and `https://a.example/c.role` the
  /// `role` of `https://a.example/c`. Null counts as none, and so does what has U+0000 in a text,
  /// which SQLite would cut off there. A null of the exact name ends the search: it was put there to
  /// take a claim away.
  ///
  /// O(n) in the number of claims for each dot.
  package func value(at path: String) -> ClaimValue? {
    guard let value = found(path[...]), value != .null, !value.hasNull else { return nil }
    return value
  }

  /// Whether there is a claim of exactly this name, whatever it is, that is not null.
  package func says(_ name: String) -> Bool { value(named: name).map { $0 != .null } ?? false }

  private func found(_ path: Substring) -> ClaimValue? {
    if let value = value(named: path) { return value }
    for dot in path.indices.reversed() where path[dot] == "." {
      guard case .object(let inner) = value(named: path[..<dot]) else { continue }
      if let value = inner.found(path[path.index(after: dot)...]) { return value }
    }
    return nil
  }
}
