import FetchedRecords
import OrderedResults

/// What the members of a stream have told and the stream has not, so that all of them are always
/// shown at one commit.
///
/// A member that takes long to be brought up to date holds up the others: what they tell meanwhile
/// is kept. When its next state is being fetched, that of the others at the same commit is kept
/// beside, and shown together with it when it arrives.
struct MemberArrivals {
  /// What each member tells of the present.
  private var news: [Int: MemberNews] = [:]
  /// What each told up to the commit that is being fetched.
  private var pinned: [Int: MemberNews] = [:]
  /// What can be told now.
  private var ready: [Int: MemberNews] = [:]
  /// The members whose present is not known.
  private var delayed: Set<Int> = []
  /// The members that are being fetched, all of them at one commit.
  private var fetching: Set<Int> = []

  /// - Parameter delayed: the members that are behind at the beginning.
  init(delayed: Set<Int>) { self.delayed = delayed }

  /// Whether there is nothing that can be told now.
  var isEmpty: Bool { ready.isEmpty && (!delayed.isEmpty || news.isEmpty) }

  /// Whether there is nothing that was told and is not taken, and nothing is expected.
  var isIdle: Bool {
    news.isEmpty && pinned.isEmpty && ready.isEmpty && delayed.isEmpty && fetching.isEmpty
  }

  mutating func append(_ event: LiveResultEvent, from index: Int) {
    switch event {
    case .changed, .reset, .recovered, .counted:
      append(event, to: index)
    case .failed:
      append(event, to: index)
      land(index, isCurrent: true)
    case .delayed: delayed.insert(index)
    case .fetching:
      delayed.insert(index)
      fetching.insert(index)
      // Whatever was told before is of this commit or of an earlier one.
      pinned = news
    case .landed(let isCurrent): land(index, isCurrent: isCurrent)
    }
  }

  /// What a fetch gave comes while the member is still being fetched.
  private mutating func append(_ event: LiveResultEvent, to index: Int) {
    news[index, default: MemberNews()].append(event)
    if fetching.contains(index) { pinned[index, default: MemberNews()].append(event) }
  }

  private mutating func land(_ index: Int, isCurrent: Bool) {
    if isCurrent { delayed.remove(index) } else { delayed.insert(index) }
    guard fetching.remove(index) != nil, fetching.isEmpty else { return }
    // The present of others is another commit; what was pinned belongs together. It can be told also
    // where somebody is behind again before it is.
    for (index, told) in pinned {
      ready[index, default: MemberNews()].append(told)
      if news[index]?.latest?.version == told.latest?.version { news[index] = nil }
    }
    pinned = [:]
  }

  /// Takes what can be told, all of it of one commit.
  mutating func take() -> [Int: MemberNews] {
    guard delayed.isEmpty else {
      defer { ready = [:] }
      return ready
    }
    defer { (news, ready, pinned) = ([:], [:], [:]) }
    return ready.merging(news) { $0.followed(by: $1) }
  }
}
