/// Refuses changes that are not in the order of `protocol.md` §4, and records named twice.
struct OrderCheck {
  private var step = 0
  private var last: IndexPath?

  mutating func check(_ change: RecordChange) throws(ApplyError) {
    let (step, path): (Int, IndexPath) =
      switch change {
      case .deletion(let path, _), .move(let path, _, _, _): (0, path)
      case .insertion(let path, _): (1, path)
      case .update(_, let path, _, _): (2, path)
      }
    if step == self.step, let last {
      guard step == 0 ? path < last : last < path else { throw .outOfOrder(path) }
    }
    guard step >= self.step else { throw .outOfOrder(path) }
    (self.step, last) = (step, path)
  }
}
