/// What a token function gives, until the server refuses it.
actor TokenKeeper {
  typealias Function = @Sendable (_ isExpired: Bool) async throws -> String?

  /// A new token has to be good for so long before yet another one is asked for.
  private static let proof: Duration = .seconds(5)

  private let function: Function
  private var token: String?
  private var asking: Task<String?, any Error>?
  /// Whether it was asked for after a refusal, and since when it is known to be good.
  private var isRenewed = false
  private var goodSince: ContinuousClock.Instant?

  init(_ function: @escaping Function) { self.function = function }

  /// nil: nobody has signed in.
  func get() async throws -> String? {
    if let token { return token }
    if asking == nil { (isRenewed, goodSince) = (false, nil) }
    return try await ask(isExpired: false)
  }

  /// Another than the one that was refused; nil: there is none.
  func renew(_ refused: String?) async throws -> String? {
    if let asking { _ = try await asking.value }
    if token != refused { return token }
    let isProven = goodSince.map { .now - $0 > Self.proof } ?? false
    token = nil
    if isRenewed, !isProven { return nil }
    (isRenewed, goodSince) = (true, nil)
    do {
      let other = try await ask(isExpired: true)
      if other == refused { token = nil }
      return token
    } catch {
      // As before: it may be asked again.
      (isRenewed, token) = (false, refused)
      throw error
    }
  }

  /// The server took it.
  func proved() { goodSince = goodSince ?? .now }

  private func ask(isExpired: Bool) async throws -> String? {
    let task = asking ?? Task { [function] in try Self.checked(try await function(isExpired)) }
    asking = task
    defer { if asking == task { asking = nil } }
    token = try await task.value
    return token
  }

  /// RFC 9110 §5.5: what a header can carry. Nothing of it in the error.
  private static func checked(_ token: String?) throws -> String? {
    guard let token, !token.isEmpty else { return nil }
    guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw RemoteRecordsError(.token, "The token is not a text that a header can carry", "")
    }
    return token
  }
}
