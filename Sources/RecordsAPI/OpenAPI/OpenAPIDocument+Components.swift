// What is the same for every query.
extension OpenAPIDocument {
  static let count: JSONTree = ["type": "integer", "minimum": 0]

  static let indexPath: JSONTree = [
    "type": "array", "items": count, "minItems": 2, "maxItems": 2,
  ]

  /// An object that has all of these members, and no others.
  static func object(_ members: JSONTree) -> JSONTree {
    [
      "type": "object", "properties": members,
      "required": .array(members.members.map { .string($0.0) }), "additionalProperties": false,
    ]
  }

  /// The same of a state, with its version and its commit.
  static func state(_ members: JSONTree) -> JSONTree {
    object(["version": ["type": "string"], "commit": ["type": "integer"]] + members)
  }

  static func json(
    _ description: String, _ schema: JSONTree, orAs other: String? = nil
  ) -> JSONTree {
    let text: JSONTree = ["schema": ["type": "string"]]
    let json: JSONTree = ["application/json": ["schema": schema]]
    let content = other.map { json + .object([($0, text)]) } ?? json
    return ["description": .string(description), "content": content]
  }

  static func text(_ description: String) -> JSONTree {
    [
      "description": .string(description),
      "content": ["text/plain": ["schema": ["type": "string"]]],
    ]
  }

  /// As far as OpenAPI goes: the events are said in words, and as lines of JSON.
  static let stream: JSONTree = [
    "description": """
    A snapshot, and then what changes: willChange, sectionChange, change, didChange, and fetchError \
    and recovered. It goes on until the client leaves.
    """,
    "content": [
      "text/event-stream": ["schema": ["type": "string"]],
      "application/x-ndjson": ["schema": ["type": "string"]],
    ],
  ]

  // MARK: - Words

  static let pageWords: [JSONTree] = [
    word("limit", ["type": "integer", "minimum": 1, "maximum": 10_000, "default": 100]),
    word("offset", ["type": "integer", "minimum": 0, "maximum": .integer(.max)]),
    word("after", ["type": "string"], "The next of the page before; not beside offset."),
  ]

  private static let resumeWords: [JSONTree] = [
    word("minInterval", ["type": "integer", "minimum": 0, "maximum": 3_600_000]),
    word("snapshot", ["type": "boolean"]),
    word("offset", ["type": "integer", "minimum": 0, "maximum": .integer(.max)]),
    word("limit", ["type": "integer", "minimum": 1]),
  ]

  static let streamWords: [JSONTree] =
    [word("lastEventId", ["type": "string"], "The version that the client has.")] + resumeWords

  static let pollWords: [JSONTree] =
    [
      word("after", ["type": "string"], "The version that the client has."),
      word("wait", ["type": "integer", "minimum": 0, "maximum": 60, "default": 0]),
      word("cursor", ["type": "string"], "That of the answer before."),
    ] + resumeWords

  private static func word(
    _ name: String, _ schema: JSONTree, _ description: String? = nil
  ) -> JSONTree {
    ["name": .string(name), "in": "query", "schema": schema]
      + (description.map { ["description": .string($0)] } ?? [:])
  }

  // MARK: - Components

  static let schemas: [(String, JSONTree)] = [
    (
      "Value",
      [
        "description": "A value of SQLite's: a BLOB is an object with its bytes in base64.",
        "anyOf": [
          ["type": ["number", "string", "null"]],
          object(["base64": ["type": "string", "contentEncoding": "base64"]]),
        ],
      ]
    ),
    (
      "Section",
      object([
        "index": count, "name": .value, "indexTitle": ["type": "string"],
        "numberOfRecords": count, "offset": count,
      ])
    ),
    (
      "Changes",
      [
        "type": "object", "required": ["version", "commit", "cursor", "events"],
        "properties": [
          "from": ["type": ["string", "null"]], "version": ["type": "string"],
          "commit": ["type": "integer"],
          "events": [
            "type": "array",
            "items": [
              "type": "object", "required": ["event", "data"],
              "properties": ["event": ["type": "string"], "data": ["type": "object"]],
            ],
          ],
        ],
      ]
    ),
    (
      "Problem",
      object([
        "type": ["type": "string"], "title": ["type": "string"], "status": ["type": "integer"],
        "detail": ["type": "string"],
      ])
    ),
  ]

  /// RFC 9457, whatever is refused.
  static let problems: JSONTree = [
    "Problem": [
      "description": "Why it is refused, and what to do.",
      "content": [
        "application/problem+json": ["schema": ["$ref": "#/components/schemas/Problem"]]
      ],
    ]
  ]

  static let refusals: JSONTree = .object(
    [
      "400", "401", "403", "404", "406", "408", "414", "416", "421", "429", "431", "500", "503",
    ].map { ($0, ["$ref": "#/components/responses/Problem"]) })

  static let security: JSONTree = [
    "securitySchemes": ["bearer": ["type": "http", "scheme": "bearer"]]
  ]
}
