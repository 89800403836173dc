/// What is known of a caller: the claims of a token, the columns of the row that the claims statement
/// gave, or what a proxy says in headers.
package struct Claims: Sendable {
  /// One claim.
  package struct Member: Sendable {
    package let name: String
    package let value: ClaimValue
  }

  /// In the order in which they came; no two have the same name.
  package private(set) var members: [Member] = []

  /// Claims from names and values, of which the last of a name counts. O(n).
  package init(_ claims: [(String, ClaimValue)] = []) {
    self = Claims(distinct: []).joining(claims)
  }

  /// Claims whose names are known to be distinct. O(1).
  init(distinct members: [Member]) { self.members = members }

  /// The claim of exactly this name, null included. O(n) in the number of claims, which are few.
  func value(named name: some StringProtocol) -> ClaimValue? {
    members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  /// These claims with the columns of a row, which win over claims of the same name.
  ///
  /// A column that is NULL wins, too, and counts as none: where the row takes a role away, the
  /// token's does not come back. O(n + m).
  package func joining(_ columns: [(String, ClaimValue)]) -> Claims {
    var joined = self
    var places: [ExactText: Int] = [:]
    for (place, member) in members.enumerated() { places[ExactText(member.name)] = place }
    for (name, value) in columns {
      let member = Member(name: name, value: value)
      if let place = places[ExactText(name)] {
        joined.members[place] = member
      } else {
        places[ExactText(name)] = joined.members.count
        joined.members.append(member)
      }
    }
    return joined
  }
}

extension Claims: Equatable {
  /// Whether they say the same, in any order. O(n²).
  package static func == (a: Self, b: Self) -> Bool {
    a.members.count == b.members.count
      && a.members.allSatisfy { b.value(named: $0.name) == $0.value }
  }
}
