/// A key of a JWK set, as it is written there (RFC 7517 §4).
struct JSONWebKey {
  /// Why a key is not used.
  struct Unused: Error {
    let message: String
    /// Whether it is simply for something else; otherwise it is broken, or weak.
    let isHarmless: Bool
  }

  let members: Claims
  let type: String
  let identifier: String?
  /// How it is called in messages.
  let title: String

  /// The keys of a set.
  static func set(_ text: String) throws(KeyProblem) -> [JSONWebKey] {
    let set: Claims
    do throws(JSONProblem) {
      set = try Claims(json: text)
    } catch {
      throw KeyProblem("the key set is not JSON: \(error.message), at byte \(error.offset)")
    }
    guard case .array(let values) = set.value(named: "keys") else {
      throw KeyProblem("the key set has no array named keys (RFC 7517 §5)")
    }
    var keys: [JSONWebKey] = []
    for (place, value) in values.enumerated() {
      keys.append(try JSONWebKey(value, place: place))
    }
    return keys
  }

  private init(_ value: ClaimValue, place: Int) throws(KeyProblem) {
    let number = "key \(place + 1)"
    guard case .object(let members) = value else {
      throw KeyProblem("\(number) of the key set is not an object")
    }
    guard case .string(let type) = members.value(named: "kty") else {
      throw KeyProblem("\(number) of the key set has no kty")
    }
    (self.members, self.type) = (members, type)
    switch members.value(named: "kid") {
    case nil: (identifier, title) = (nil, number)
    case .string(let text): (identifier, title) = (text, "\(number) (kid \(text.quoted))")
    default: throw KeyProblem("the kid of \(number) of the key set is not a text")
    }
  }

  func text(_ name: String) -> String? {
    if case .string(let text) = members.value(named: name) { text } else { nil }
  }

  /// For something else than what is asked for.
  func harmless(_ message: String) -> Unused {
    Unused(message: "\(title) \(message)", isHarmless: true)
  }

  /// For this, and not good for it.
  func broken(_ message: String) -> Unused {
    Unused(message: "\(title) \(message)", isHarmless: false)
  }

  /// The bytes of a member (RFC 7518 §6.2.1.2: with leading zeros, so their number is known).
  func bytes(_ name: String, count: Int? = nil) throws(Unused) -> [UInt8] {
    guard let text = text(name), let bytes = Base64URL.decode(text.utf8), !bytes.isEmpty else {
      throw broken("has no \(name) in base64url")
    }
    if let count, bytes.count != count {
      throw broken("has a \(name) of \(bytes.count) bytes, and must have \(count)")
    }
    return bytes
  }

  /// Leaves out what is not for signatures (RFC 7517 §4.2, §4.3).
  func checkUse() throws(Unused) {
    if let use = members.value(named: "use"), use != .string("sig") {
      throw harmless("is not used: its use is not sig")
    }
    if let operations = members.value(named: "key_ops") {
      guard case .array(let names) = operations, names.contains(.string("verify")) else {
        throw harmless("is not used: its key_ops have no verify")
      }
    }
  }

  /// Those of some algorithms that it is for (RFC 7517 §4.4).
  func algorithms(among fitting: [SigningAlgorithm]) throws(Unused) -> [SigningAlgorithm] {
    guard let value = members.value(named: "alg") else { return fitting }
    return fitting.filter { value == .string($0.rawValue) }
  }
}
