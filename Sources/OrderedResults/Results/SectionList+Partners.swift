extension SectionList {
  /// For each section, the one of `old` with the same name and index title.
  ///
  /// O(s), s sections; no hashing of those before the first and after the last difference.
  func partners(in old: SectionList) -> [Int?] {
    func isSame(_ left: Section, _ right: Section) -> Bool {
      left.name == right.name && left.indexTitle == right.indexTitle
    }
    var partners = [Int?](repeating: nil, count: count)
    var start = 0
    while start < Swift.min(count, old.count), isSame(self[start], old[start]) {
      partners[start] = start
      start += 1
    }
    var (end, oldEnd) = (count, old.count)
    while end > start, oldEnd > start, isSame(self[end - 1], old[oldEnd - 1]) {
      (end, oldEnd) = (end - 1, oldEnd - 1)
      partners[end] = oldEnd
    }
    guard start < end, start < oldEnd else { return partners }
    var byName: [Value: Int] = [:]
    for index in start..<oldEnd { byName[old[index].name] = index }
    for index in start..<end {
      guard let partner = byName[self[index].name], isSame(self[index], old[partner]) else {
        continue
      }
      partners[index] = partner
    }
    return partners
  }
}
