import JSON

/// JSON that is written down where it is made, as a document is that nobody waits for.
struct JSONTree: Sendable {
  fileprivate enum Content: Sendable {
    /// In this order.
    case object([(String, JSONTree)])
    case array([JSONTree])
    case string(String)
    case integer(Int)
    case boolean(Bool)
  }

  fileprivate let content: Content

  private init(_ content: Content) { self.content = content }

  static func object(_ members: [(String, JSONTree)]) -> JSONTree { JSONTree(.object(members)) }

  static func array(_ elements: [JSONTree]) -> JSONTree { JSONTree(.array(elements)) }

  static func string(_ text: String) -> JSONTree { JSONTree(.string(text)) }

  static func integer(_ integer: Int) -> JSONTree { JSONTree(.integer(integer)) }

  static func boolean(_ boolean: Bool) -> JSONTree { JSONTree(.boolean(boolean)) }

  /// The members of an object; nothing of what is none.
  var members: [(String, JSONTree)] {
    if case .object(let members) = content { members } else { [] }
  }

  /// The members of two objects, one after the other.
  static func + (left: JSONTree, right: JSONTree) -> JSONTree {
    .object(left.members + right.members)
  }
}

extension JSONTree: ExpressibleByDictionaryLiteral {
  init(dictionaryLiteral elements: (String, JSONTree)...) { self.init(.object(elements)) }
}

extension JSONTree: ExpressibleByArrayLiteral {
  init(arrayLiteral elements: JSONTree...) { self.init(.array(elements)) }
}

extension JSONTree: ExpressibleByStringLiteral {
  init(stringLiteral value: String) { self.init(.string(value)) }
}

extension JSONTree: ExpressibleByIntegerLiteral {
  init(integerLiteral value: Int) { self.init(.integer(value)) }
}

extension JSONTree: ExpressibleByBooleanLiteral {
  init(booleanLiteral value: Bool) { self.init(.boolean(value)) }
}

extension JSONWriter {
  mutating func tree(_ tree: JSONTree) {
    switch tree.content {
    case .object(let members):
      object { json in
        for (name, value) in members {
          json.name(name)
          json.tree(value)
        }
      }
    case .array(let elements): array { json in for element in elements { json.tree(element) } }
    case .string(let text): string(text)
    case .integer(let integer): self.integer(Int64(integer))
    case .boolean(let boolean): self.boolean(boolean)
    }
  }
}
