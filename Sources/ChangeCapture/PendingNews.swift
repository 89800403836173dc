/// The difference between what the owner was last told and what is.
struct PendingNews: Equatable {
  /// Whether there is a database at the path.
  enum Condition: Equatable {
    case readable
    case absent
    case unreadable(DatabaseAccessError)
  }

  private var told = Condition.readable
  private var condition = Condition.readable
  private var isReplaced = false
  private var isCommitted = false
  private var isLocked = false

  /// Transactions were committed.
  mutating func committed() { isCommitted = true }

  /// It has not been possible to look for long.
  mutating func locked() { isLocked = true }

  /// The file can be read, and is another one than before or was away in between.
  mutating func opened() {
    condition = .readable
    isReplaced = true
  }

  mutating func removed() { condition = .absent }

  mutating func unreadable(_ error: DatabaseAccessError) { condition = .unreadable(error) }

  /// The one event that says it all; nil: the owner knows everything.
  var event: WatchEvent? {
    switch (told, condition) {
    case (.readable, .readable):
      isReplaced ? .replaced : isCommitted ? .committed : isLocked ? .locked : nil
    case (_, .readable): .restored
    case (let told, let now) where told == now: nil
    case (_, .absent): .removed
    case (_, .unreadable(let error)): .unreadable(error)
    }
  }

  /// Takes the event: from now on the owner knows.
  mutating func take() -> WatchEvent? {
    defer { self = PendingNews(told: condition, condition: condition) }
    return event
  }

  init() {}

  private init(told: Condition, condition: Condition) {
    (self.told, self.condition) = (told, condition)
  }
}
