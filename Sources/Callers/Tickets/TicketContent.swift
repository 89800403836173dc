/// What is sealed in a ticket: a line of JSON, and after it the claims where there are any.
///
/// Two texts, since claims may be nested as deep as JSON is read.
struct TicketContent {
  let identity: CallerIdentity
  let expires: UnixSeconds

  /// Nil for who is anonymous.
  var bytes: [UInt8]? {
    switch identity {
    case .anonymous: nil
    case .token(let claims, let end, let key, let name):
      line("token", name, .array([end.map(ClaimValue.double) ?? .null, .string(key)]))
        + claims.jsonText.utf8
    case .opaque(let digest, let name): line("opaque", name, .string(digest))
    case .headers(let claims, let name): line("headers", name, .null) + claims.jsonText.utf8
    }
  }

  private func line(_ kind: String, _ name: String, _ more: ClaimValue) -> [UInt8] {
    let line = ClaimValue.array([.double(expires), .string(kind), .string(name), more])
    return Array(line.jsonText.utf8) + [UInt8(ascii: "\n")]
  }

  init(identity: CallerIdentity, expires: UnixSeconds) {
    self.identity = identity
    self.expires = expires
  }

  /// Reads what was sealed; nil for what another version may have.
  init?(_ bytes: [UInt8]) {
    // A line end in a text is escaped, so the first ends the line.
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")),
      case .array(let values) = try? JSONReader.value(Array(bytes[..<end])), values.count == 4,
      case .double(let expires) = values[0], case .string(let kind) = values[1],
      case .string(let name) = values[2]
    else { return nil }
    self.expires = expires
    let rest = Array(bytes[(end + 1)...])
    switch (kind, values[3]) {
    case ("opaque", .string(let digest)):
      identity = .opaque(digest: digest, name: name)
    case ("headers", .null):
      guard let claims = try? JSONReader.object(rest) else { return nil }
      identity = .headers(claims: claims, name: name)
    case ("token", .array(let proof)):
      guard let claims = try? JSONReader.object(rest), proof.count == 2,
        case .string(let key) = proof[1]
      else { return nil }
      identity = .token(claims: claims, expires: proof[0].seconds, key: key, name: name)
    default: return nil
    }
  }
}

extension ClaimValue {
  fileprivate var seconds: UnixSeconds? {
    if case .double(let seconds) = self { seconds } else { nil }
  }
}
