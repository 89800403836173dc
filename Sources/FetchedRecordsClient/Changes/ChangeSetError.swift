/// A change set that does not fit the records that it is meant for, or is none.
struct ChangeSetError: Error, Equatable, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
