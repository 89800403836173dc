import Callers
import FetchedRecords
import HTTPServer
import HTTPTypes
import OrderedResults
import QueryAnalysis

// The `claims` statement: a live query, of which each caller is one set of arguments.
extension Gatekeeper {
  /// The statement as a query that no client sees.
  static func definition(_ settings: CallerSettings) -> QueryDefinition? {
    guard let sql = settings.claims else { return nil }
    var definition = QueryDefinition(name: claimsQuery, form: .sql(sql))
    definition.isPrivate = true
    definition.parameters = SQLFragment.parameterNames(of: sql).map {
      QueryParameter(name: $0, type: .text)
    }
    return definition
  }

  /// What callers are told of a failure of a query.
  ///
  /// Where it comes of the records, they are not told of which: the words may be of rows that are not
  /// theirs, or of a commit at which they would have been told nothing of them. The log says it, when
  /// the query begins to fail.
  func told(_ failure: FetchFailure, of query: String) -> FetchFailure {
    guard query != Self.claimsQuery, [.query, .sections, .database].contains(failure.kind),
      failure.detail != Self.hiddenDetail
    else { return failure }
    return FetchFailure(kind: failure.kind, detail: Self.hiddenDetail)
  }

  static let hiddenDetail = "The query fails; the server's log says why."

  /// Which live result says who somebody is; nil: none is needed.
  func claimsKey(_ identity: CallerIdentity) -> FeedKey? {
    guard settings.claims != nil, let claims = identity.claims else { return nil }
    let values = claimNames.map { ($0, claims.value(at: $0)?.bound ?? .null) }
    return FeedKey(query: Self.claimsQuery, arguments: Dictionary(uniqueKeysWithValues: values))
  }

  /// The caller that a request's identity and a state of the `claims` statement make.
  ///
  /// - Throws: 401 where there is no row, or what lets them in is over; 500 where there are several;
  ///   503 where another gatekeeper has taken over.
  func caller(_ identity: CallerIdentity, _ feed: Feed?) throws(Problem) -> Caller {
    try checkIsPresent()
    var (claims, expires, row) = (identity.claims, identity.expires, Caller.Row?.none)
    if let feed {
      let head = feed.head
      if let failure = head.refusal { throw Problem(failure, hiding: self) }
      let results = head.snapshot.results
      guard results.count > 0 else {
        throw unauthorized("noRow", "Your session is over.", "the claims statement gives no row")
      }
      guard results.count == 1 else {
        warn("the `claims` statement gives \(results.count) rows for one caller, who is refused")
        throw refuse(.internalServerError, "severalRows", "Who you are cannot be told.")
      }
      let columns = results[0].namedClaims(results.layout)
      claims = (claims ?? Claims()).joining(columns)
      row = Caller.Row(
        feed: feed, version: head.snapshot.version, commit: head.snapshot.commit)
    }
    // What is neither a time nor NULL lets nobody in: also what no claim may be, text with NUL.
    if settings.claims != nil, let claims, claims.says("expires") {
      guard let seconds = claims.value(at: "expires")?.seconds else {
        warn("`expires` of the `claims` statement is no number of seconds")
        throw unauthorized("expired", "Your session is over.")
      }
      expires = min(expires ?? seconds, seconds)
    }
    if let expires, expires <= Self.now {
      throw unauthorized("expired", "Your session is over.", "what lets the caller in has expired")
    }
    return Caller(gate: self, identity: identity, claims: claims, row: row, expires: expires)
  }
}

extension ClaimValue {
  private static func isDecimal(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ".")
  }

  fileprivate var seconds: UnixSeconds? {
    switch self {
    case .integer(let integer): UnixSeconds(integer)
    case .double(let double) where double.isFinite: double
    // `Double` reads "nan" and "0x7f", too.
    case .string(let text) where text.utf8.allSatisfy(Self.isDecimal): UnixSeconds(text)
    default: nil
    }
  }
}

extension Record {
  fileprivate func namedClaims(_ layout: RecordLayout) -> [(String, ClaimValue)] {
    zip(layout.columns, values).map { ($0, ClaimValue($1)) }
  }
}

extension Problem {
  /// What keeps the server from knowing who asks; why is for the log, unless nobody waits any more.
  init(_ failure: FetchFailure, hiding gate: Gatekeeper) {
    self.init(failure)
    if failure.kind != .abandoned {
      gate.warn("the `claims` statement fails: \(failure.detail)")
    }
    detail = "Who you are cannot be told now."
  }
}
