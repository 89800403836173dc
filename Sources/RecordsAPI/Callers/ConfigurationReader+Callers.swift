import Callers
import Foundation
import QueryAnalysis
import Yams

// Who may read what: `callers`, and of a query `allow`.
extension ConfigurationReader {
  mutating func callers(_ node: Node) -> CallerSettings? {
    guard let entries = read(node, as: CallerWord.self, what: "`callers`") else { return nil }
    let words = Dictionary(uniqueKeysWithValues: entries.map { ($0.word, $0.value) })
    guard let proof = proof(words, at: node.position) else { return nil }
    var settings = CallerSettings(proof: proof)
    settings.cookie = words[.cookie].flatMap { cookie($0) }
    settings.claims = words[.claims].flatMap { text($0, "`claims`") }
    if let node = words[.claims] {
      configuration.positions[.query(Gatekeeper.claimsQuery, .name)] = node.position
      configuration.positions[.query(Gatekeeper.claimsQuery, .word(.sql))] = node.position
    }
    settings.operators = words[.operators].flatMap { rule($0, "`operators`") }
    settings.ticketKey = words[.ticketKey].flatMap { ticketKey($0) }
    if case .opaque = proof, words[.claims] == nil {
      note(
        node.position, "an opaque token says nothing by itself",
        mend: "add claims: SELECT … WHERE token = :token")
    }
    if let sql = settings.claims, let place = words[.claims]?.position {
      checkClaims(sql, proof, at: place)
    }
    if case .headers = proof, let cookie = words[.cookie] {
      note(
        cookie.position, "`cookie` beside `headers`: the proxy says who somebody is, and no token",
        mend: "leave the word out")
    }
    return settings
  }

  /// A statement that asks for nobody in particular would make everybody the one it finds.
  private mutating func checkClaims(
    _ sql: String, _ proof: CallerSettings.Proof, at position: TextPosition
  ) {
    let names = SQLFragment.parameterNames(of: sql)
    if case .opaque = proof, !names.contains("token") {
      note(
        position, "`claims` does not ask by :token, and so any token would do",
        mend: "add WHERE token = :token")
    } else if names.isEmpty {
      note(
        position, "`claims` does not ask who it is about, and so everybody would be the same",
        mend: "add WHERE user = :sub, or another claim")
    }
    if let question = PresentTime.question(in: sql) {
      note(
        position, "`claims` asks what time it is by \(question), which changes without a commit",
        mend: "select the time as `expires` instead, in Unix seconds: unixepoch(column) AS expires")
    }
  }

  /// Exactly one of the ways to know somebody.
  private mutating func proof(
    _ words: [CallerWord: Node], at position: TextPosition
  ) -> CallerSettings.Proof? {
    let ways = [CallerWord.jwt, .opaque, .headers].filter { words[$0] != nil }
    guard ways.count == 1, let node = words[ways[0]] else {
      let which = ways.isEmpty ? "none" : ways.map { "`\($0.rawValue)`" }.joined(separator: " and ")
      note(
        position, "`callers` must say by what somebody is known, and has \(which)",
        mend: "give one of jwt, opaque and headers")
      return nil
    }
    switch ways[0] {
    case .jwt: return signed(node)
    case .opaque:
      guard truth(node, "`opaque`") == true else {
        note(node.position, "`opaque` is false", mend: "write opaque: true, or leave the word out")
        return nil
      }
      return .opaque
    default: return headers(node)
    }
  }

  private mutating func cookie(_ node: Node) -> String? {
    guard let name = text(node, "`cookie`") else { return nil }
    if CredentialReader.isCookieName(name) { return name }
    note(node.position, "\"\(name)\" is no name of a cookie", mend: "letters, digits, - and _")
    return nil
  }

  // MARK: - Signed tokens

  private mutating func signed(_ node: Node) -> CallerSettings.Proof? {
    guard let entries = read(node, as: SignedTokenWord.self, what: "`jwt`") else { return nil }
    let words = Dictionary(uniqueKeysWithValues: entries.map { ($0.word, $0.value) })
    guard let algorithmsNode = words[.algorithms] else {
      note(
        node.position, "`jwt` does not say which `algorithms` are good",
        mend: "add algorithms: [ES256], or what your tokens are signed with")
      return nil
    }
    guard let algorithms = algorithms(algorithmsNode) else { return nil }
    let settings = TokenSettings(
      algorithms: algorithms, issuer: words[.issuer].flatMap { text($0, "`issuer`") },
      audience: words[.audience].flatMap { text($0, "`audience`") })
    let source: (KeySource, Node)? =
      switch (words[.keys], words[.secret]) {
      case (let keys?, nil):
        text(keys, "`keys`").map { (.file(path: resolve($0)), keys) }
      case (nil, let secret?): self.secret(secret).map { (.secret($0), secret) }
      case (nil, nil), (_?, _?): nil
      }
    guard let (source, place) = source else {
      if (words[.keys] == nil) == (words[.secret] == nil) {
        note(
          node.position, "`jwt` needs either `keys` or `secret`",
          mend: "keys: FILE names a JWK set; secret: {file: FILE} is for HS256")
      }
      return nil
    }
    // They are read here, so that what is wrong with them has its place in the file.
    do {
      _ = try WatchedKeys(source: source, settings: settings) { _ in }
    } catch {
      note(place.position, error.message)
      return nil
    }
    return .signed(source, settings)
  }

  private mutating func algorithms(_ node: Node) -> [SigningAlgorithm]? {
    guard let items = list(node, "`algorithms`") else { return nil }
    let names = SigningAlgorithm.allCases.map(\.rawValue)
    let algorithms = items.compactMap { text, node -> SigningAlgorithm? in
      if let algorithm = SigningAlgorithm(rawValue: text) { return algorithm }
      note(
        node.position, "\"\(text)\" is no algorithm of a signature",
        mend: NearestWord.find(text, among: names).map { "did you mean \"\($0)\"?" }
          ?? "they are \(names.joined(separator: ", "))")
      return nil
    }
    return algorithms.count == items.count ? algorithms : nil
  }

  /// Where a secret is kept.
  mutating func secret(_ node: Node, _ what: String = "`secret`") -> SecretSource? {
    guard let entries = read(node, as: SecretWord.self, what: what) else { return nil }
    guard entries.count == 1, let text = text(entries[0].value, what) else {
      note(
        node.position, "\(what) names no single place", mend: "write {env: NAME} or {file: FILE}")
      return nil
    }
    switch entries[0].word {
    case .env: return .environment(text)
    case .file: return .file(path: resolve(text))
    }
  }

  private mutating func ticketKey(_ node: Node) -> String? {
    guard let path = text(node, "`ticketKey`").map(resolve) else { return nil }
    do {
      _ = try TicketKey(path: path)
      return path
    } catch {
      note(node.position, error.message)
      return nil
    }
  }

  // MARK: - Rules

  /// `anyone`, `signedIn`, or claims with what they may be.
  mutating func rule(_ node: Node, _ what: String) -> AccessRule? {
    switch node.scalar?.string {
    case "anyone": return .anyone
    case "signedIn": return .signedIn
    case let text?:
      note(
        node.position, "\(what) is \"\(text)\"",
        mend: "write anyone, signedIn, or claims such as {role: [customer, admin]}")
      return nil
    case nil: break
    }
    guard let entries = entries(node, what, example: "role: [customer, admin]") else { return nil }
    var claims: [String: [ClaimValue]] = [:]
    for (name, key, value) in entries {
      if name.isEmpty {
        note(key.position, "a claim of \(what) has no name", mend: "write one, such as role")
      }
      let nodes = value.sequence.map(Array.init) ?? [value]
      let values = nodes.compactMap { node -> ClaimValue? in
        guard let value = node.scalar.flatMap(ClaimValue.init) else {
          note(
            node.position, "what \"\(name)\" may be is \(node.kind)",
            mend: "list texts, numbers, true and false")
          return nil
        }
        return value
      }
      if nodes.isEmpty {
        note(value.position, "nothing would fit \"\(name)\"", mend: "list values")
      }
      claims[name] = values
    }
    return .claims(claims)
  }
}

extension ClaimValue {
  fileprivate init?(_ scalar: Node.Scalar) {
    switch YAMLScalar(scalar) {
    case .text(let text) where !text.utf8.contains(0): self = .string(text)
    case .integer(let integer): self = .integer(integer)
    case .real(let real) where real.isFinite: self = .double(real)
    case .boolean(let boolean): self = .boolean(boolean)
    default: return nil
    }
  }
}
