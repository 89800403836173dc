extension Results {
  /// The digest of what the records show, in their order; sections and their names are in it.
  ///
  /// Results that show the same have the same digest under one key, however they came about. It is
  /// kept beside the records: O(k + n / 8192) for k records that no result had that was asked before,
  /// n records; and O(s), s sections, where index titles are in a column that is not selected.
  package func digest(by key: DigestKey) -> RunDigest {
    let shown = ShownColumns(layout)
    var digest = RunDigest()
    for node in records.nodes { digest.append(node.digest(by: key, shown)) }
    // All other titles come of what the records show.
    if let title = layout.sectionIndexTitle, title >= shown.visible {
      for section in sections { digest.append(key.digest(of: section.indexTitle)) }
    }
    return digest
  }
}

extension BlockNode {
  fileprivate func digest(by key: DigestKey, _ shown: ShownColumns) -> RunDigest {
    if let values = digest.known, let powers = digestPowers.known {
      return RunDigest(values: values, powers: powers)
    }
    // Of blocks whose digests are kept, but for a few.
    var run = RunDigest()
    for block in blocks { run.append(block.digest(by: key, shown)) }
    digest.keep(run.values)
    digestPowers.keep(run.powers)
    return run
  }
}

extension RecordBlock {
  fileprivate func digest(by key: DigestKey, _ shown: ShownColumns) -> RunDigest {
    if let values = digest.known { return key.run(of: count, values: values) }
    let run = key.run(of: count) { key.hash(bytes($0), shown) }
    digest.keep(run.values)
    return run
  }
}
