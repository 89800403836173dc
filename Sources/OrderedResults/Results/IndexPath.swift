/// Where a record stands: in which section, and at which place in it, both counted from 0.
package struct IndexPath: Sendable, Hashable, Comparable {
  package var section: Int
  package var item: Int

  package init(section: Int, item: Int) {
    self.section = section
    self.item = item
  }

  package static func < (left: IndexPath, right: IndexPath) -> Bool {
    (left.section, left.item) < (right.section, right.item)
  }
}

extension IndexPath: CustomStringConvertible {
  package var description: String { "[\(section),\(item)]" }
}
