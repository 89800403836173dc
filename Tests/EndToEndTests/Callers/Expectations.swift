import CCurl
import Testing

extension HTTPClient.Answer {
  /// Holds an answer against `protocol.md` §6: 401 with a challenge, which says whether there was a
  /// token (RFC 6750 §3).
  func expectUnauthorized(
    withToken hadToken: Bool, _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(status == 401, comment(), sourceLocation: sourceLocation)
    let challenge = head["WWW-Authenticate"] ?? ""
    #expect(challenge.hasPrefix("Bearer"), comment(), sourceLocation: sourceLocation)
    #expect(
      challenge.contains(#"error="invalid_token""#) == hadToken, comment(),
      sourceLocation: sourceLocation)
    expectProblem(401, comment(), sourceLocation: sourceLocation)
  }

  /// An error of that status, in the form of `protocol.md` §2, which no cache keeps.
  func expectProblem(
    _ expected: Int, _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(status == expected, comment(), sourceLocation: sourceLocation)
    #expect(
      head["Content-Type"] == "application/problem+json", comment(),
      sourceLocation: sourceLocation)
    let problem = try? json
    #expect(problem?["status"].int == expected, comment(), sourceLocation: sourceLocation)
    #expect(problem?["detail"].string?.isEmpty == false, comment(), sourceLocation: sourceLocation)
    let cacheControl = head["Cache-Control"] ?? ""
    #expect(
      !cacheControl.contains("public") && !cacheControl.contains("max-age"), comment(),
      sourceLocation: sourceLocation)
  }
}

extension ResponseHead {
  /// The members of a field that is a list, in lower case.
  func members(_ name: String) -> Set<String> {
    let items = (self[name] ?? "").lowercased().replacing(" and ", with: ",").split(separator: ",")
    return Set(items.map { $0.filter { $0 != " " } })
  }

  /// Whether no shared cache keeps an answer, nor gives one caller's to another.
  func expectPrivate(
    _ comment: @autoclosure () -> Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(
      members("Cache-Control").isSuperset(of: ["private", "no-cache"]), comment(),
      sourceLocation: sourceLocation)
    #expect(
      members("Vary").isSuperset(of: ["authorization", "cookie"]), comment(),
      sourceLocation: sourceLocation)
  }
}

extension EventStream {
  /// Waits for a `fetchError` of that status, and then the end after a whole event.
  ///
  /// - Returns: what it says.
  @discardableResult
  func expectEnd(
    with status: Int, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> JSONValue {
    let event = try #require(try next(), sourceLocation: sourceLocation)
    #expect(event.type == "fetchError", "\(event)", sourceLocation: sourceLocation)
    #expect(!event.carriesID, sourceLocation: sourceLocation)
    let json = try event.json
    #expect(json["status"].int == status, "\(event)", sourceLocation: sourceLocation)
    #expect(json["detail"].string?.isEmpty == false, sourceLocation: sourceLocation)
    try expectEnd(sourceLocation: sourceLocation)
    return json
  }

  /// Waits for the end, which comes after a whole event and a whole chunk.
  func expectEnd(sourceLocation: SourceLocation = #_sourceLocation) throws {
    let more = try next()
    #expect(more == nil, "\(String(describing: more))", sourceLocation: sourceLocation)
    #expect(try end() == CURLE_OK, sourceLocation: sourceLocation)
    #expect(text.hasSuffix("\n\n"), sourceLocation: sourceLocation)
  }
}

extension Follower {
  /// Waits for a `fetchError` of that status, and then the end after a whole event.
  func expectEnd(
    with status: Int, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(!model.isInsideChangeSet, sourceLocation: sourceLocation)
    try stream.expectEnd(with: status, sourceLocation: sourceLocation)
  }

  /// The keys of what the client has.
  var keys: [JSONValue] { model.records.map(\.key) }
}

/// The part of a version that names the content: `protocol.md` §5.
func state(_ version: String?) -> Substring { version?.split(separator: ".").first ?? "" }
