import HTTP1
import OrderedResults
import QueryAnalysis

// The resources of `protocol.md` §2, as paths.
extension OpenAPIDocument {
  func paths(of subject: Subject, named component: String) -> [(String, JSONTree)] {
    let base = "/v1/queries/\(PercentEncoding.encoded(subject.name))"
    let record: JSONTree = ["$ref": .string("#/components/schemas/\(component)")]
    let key = Self.key(subject.layout, of: .value)
    func get(
      _ path: String, _ id: String, _ summary: String, _ schema: JSONTree,
      _ words: [JSONTree] = [], isState: Bool = true, isTable: Bool = false
    ) -> (String, JSONTree) {
      let answer = Self.json(summary, schema, orAs: isTable ? "text/csv" : nil)
      let parameters =
        Self.pathParameters(path, subject.layout) + words + (isState ? subject.items : [])
      return (
        base + path,
        ["get": Self.operation("\(component).\(id)", subject, parameters, answer, isState: isState)]
      )
    }
    let keyed: JSONTree = ["key": key, "record": record]
    let page: JSONTree = Self.state([
      "numberOfRecords": Self.count, "offset": Self.count,
      "records": ["type": "array", "items": Self.object(keyed)],
      "next": ["type": ["string", "null"]],
    ])
    let one = Self.state(["indexPath": Self.indexPath] + keyed)
    return [
      get("", "describe", "The query.", ["type": "object"], subject.order, isState: false),
      get(
        "/sections", "listSections", "The sections.",
        Self.state([
          "numberOfRecords": Self.count,
          "sections": ["type": "array", "items": ["$ref": "#/components/schemas/Section"]],
        ])),
      get(
        "/sections/{section}", "describeSection", "A section.",
        ["$ref": "#/components/schemas/Section"]),
      get(
        "/sections/{section}/records", "listSectionRecords", "A page of a section's records.",
        page, Self.pageWords, isTable: true),
      get(
        "/sections/{section}/records/{item}", "recordAtIndexPath", "The record at an index path.",
        one),
      get("/records", "listRecords", "A page of records.", page, Self.pageWords, isTable: true),
      get("/records/{key}", "recordByKey", "The record with a key.", one),
      bytes(of: subject, base + "/records/{key}/{column}", "\(component).bytesOfColumn"),
      get(
        "/sectionIndexTitles", "listSectionIndexTitles", "The titles of a section index.",
        Self.object([
          "version": ["type": "string"],
          "sectionIndexTitles": ["type": "array", "items": ["type": "string"]],
        ])),
      get(
        "/sectionIndexTitles/{title}", "sectionForIndexTitle",
        "The first section with a title, or the next one in order.",
        Self.object(["section": Self.count])),
      get(
        "/changes", "pollChanges", "What has changed after a version, as soon as anything has.",
        ["$ref": "#/components/schemas/Changes"], Self.pollWords),
      (
        base + "/events",
        [
          "get": Self.operation(
            "\(component).events", subject, Self.streamWords + subject.items, Self.stream,
            isState: false)
        ]
      ),
      (
        base + "/fetch",
        [
          "post": Self.operation(
            "\(component).fetch", subject, subject.items,
            Self.json("The query was run again.", Self.state([:])), isState: false)
        ]
      ),
    ]
  }

  /// A BLOB or a text by itself.
  private func bytes(of subject: Subject, _ path: String, _ id: String) -> (String, JSONTree) {
    let digest: JSONTree = [
      "name": "digest", "in": "query", "schema": ["type": "string"],
      "description": "What the URL in a record names, so that other bytes have another URL.",
    ]
    let answer: JSONTree = [
      "description": "The bytes that the column has in the record with the key.",
      "content": ["*/*": ["schema": ["type": "string"]]],
    ]
    let parameters = Self.pathParameters(path, subject.layout) + [digest] + subject.items
    let operation = Self.operation(id, subject, parameters, answer, isState: true)
    return (path, ["get": operation])
  }

  /// What is about no query in particular.
  var ownPaths: [(String, JSONTree)] {
    func get(_ id: String, _ answer: JSONTree, _ parameters: [JSONTree] = []) -> JSONTree {
      ["get": Self.operation(id, nil, parameters, answer, isState: false)]
    }
    let several: JSONTree = [
      "name": "query", "in": "query", "required": true,
      "description": "A query's name, with its parameters as a URL query; at most 64.",
      "schema": ["type": "array", "items": ["type": "string"], "minItems": 1, "maxItems": 64],
    ]
    let queries: JSONTree = ["queries": ["type": "array", "items": ["type": "object"]]]
    let list = Self.object(explores ? queries + ["explore": ["type": "boolean"]] : queries)
    var paths: [(String, JSONTree)] = [
      ("/v1/queries", get("listQueries", Self.json("Every query.", list))),
      ("/v1/events", get("eventsOfSeveral", Self.stream, [several] + Self.streamWords)),
      (
        "/v1/openapi.json",
        get("describeInterface", Self.json("This document.", ["type": "object"]))
      ),
      ("/v1/selftest", get("selfTest", Self.stream)),
      ("/healthz", get("isAlive", Self.text("The process answers."))),
      ("/readyz", get("isReady", Self.text("Requests are answered; the queries that fail."))),
      ("/metrics", get("metrics", Self.text("Numbers for Prometheus."))),
    ]
    if hasCallers {
      let ticket = Self.object(["ticket": ["type": "string"], "expires": Self.count])
      paths.append(
        (
          "/v1/tickets",
          [
            "post": Self.operation(
              "issueTicket", nil, [], Self.json("Good once, for one stream.", ticket),
              isState: false)
          ]
        ))
    }
    if explores {
      let sql: JSONTree = [
        "name": "sql", "in": "query", "required": true, "schema": ["type": "string"],
        "description": "A single SELECT.",
      ]
      let query = Self.object(["name": ["type": "string"], "url": ["type": "string"]])
      let answer = Self.json("The query that it is for a while, relative to this URL.", query)
      let post = Self.operation("explore", nil, [sql], answer, isState: false)
      paths.append(("/v1/explore", ["post": post]))
    }
    return paths
  }

  private static func operation(
    _ id: String, _ subject: Subject?, _ parameters: [JSONTree], _ answer: JSONTree, isState: Bool
  ) -> JSONTree {
    let tags: JSONTree = subject.map { ["tags": [.string($0.title ?? $0.name)]] } ?? [:]
    let unchanged: JSONTree =
      isState ? ["304": ["description": "The client has this state (If-None-Match)."]] : [:]
    return ["operationId": .string(id)] + tags
      + ["parameters": .array(parameters), "responses": ["200": answer] + unchanged + refusals]
  }

  /// A key of several columns is an array, which the style of paths, `simple`, joins by commas.
  private static func pathParameters(_ path: String, _ layout: RecordLayout) -> [JSONTree] {
    path.matches(of: /\{(\w+)\}/).map { match in
      let name = String(match.1)
      let text: JSONTree = ["type": "string", "minLength": 1]
      let schema: JSONTree =
        switch name {
        case "section", "item": count
        case "column": ["enum": .array(layout.columns.map(JSONTree.string))]
        case "key" where (layout.key?.count ?? 0) > 1: key(layout, of: text)
        default: text
        }
      return ["name": .string(name), "in": "path", "required": true, "schema": schema]
    }
  }

  private static func key(_ layout: RecordLayout, of value: JSONTree) -> JSONTree {
    let size = JSONTree.integer(layout.key?.count ?? 0)
    return ["type": "array", "items": value, "minItems": size, "maxItems": size]
  }
}

extension OpenAPIDocument.Subject {
  /// The query's own parameters, and its orders.
  fileprivate var items: [JSONTree] {
    parameters.map { parameter in
      [
        "name": .string(parameter.name), "in": "query",
        "required": .boolean(parameter.defaultValue == nil), "schema": parameter.type.schema,
      ]
    } + order
  }

  fileprivate var order: [JSONTree] {
    if orders.isEmpty { return [] }
    return [
      [
        "name": "order", "in": "query",
        "schema": ["type": "string", "enum": .array(orders.map(JSONTree.string))],
      ]
    ]
  }
}

extension QueryParameter.ValueType {
  fileprivate var schema: JSONTree {
    switch self {
    case .text: ["type": "string"]
    case .integer: ["type": "integer", "format": "int64"]
    case .real: ["type": "number", "format": "double"]
    case .blob: ["type": "string", "contentEncoding": "base64"]
    }
  }
}
