import Dispatch
import FetchedRecords
import HTTP1
import HTTPServer
import JSON
import OrderedResults
import QueryAnalysis

/// What the server answers to, in OpenAPI 3.1: https://spec.openapis.org/oas/v3.1.0
///
/// Each query has paths of its own, with its parameters and the columns of its records.
struct OpenAPIDocument {
  /// A query as its reader sees it.
  struct Subject {
    let name: String
    let title: String?
    let parameters: [QueryParameter]
    let orders: [String]
    let layout: RecordLayout
    /// How the result columns are stored, as far as that is known.
    let storedTypes: [StoredType]
  }

  let subjects: [Subject]
  let hasCallers: Bool
  /// Whether its reader may have any SELECT be a query.
  let explores: Bool

  var tree: JSONTree {
    [
      "openapi": "3.1.0",
      "info": [
        "title": "didchange", "version": .string(ServerVersion.number),
        "description": "Live queries over an SQLite database: pages, and streams of what changes.",
      ],
      // Relative to this document, whatever prefix a proxy puts before it.
      "servers": [["url": ".."]],
      "paths": .object(
        subjects.enumerated().flatMap { paths(of: $1, named: component($1, $0)) } + ownPaths),
      "components": [
        "schemas": .object(
          Self.schemas
            + subjects.enumerated().map { (component($1, $0), $1.recordSchema) }),
        "responses": Self.problems,
      ] + (hasCallers ? Self.security : [:]),
    ] + (hasCallers ? ["security": [["bearer": []], [:]]] : [:])
  }

  /// The name of the component that a query's record is: letters, digits, `.`, `-` and `_` (§4.8.7.1).
  private func component(_ subject: Subject, _ index: Int) -> String {
    let isName = subject.name.utf8.allSatisfy { byte in
      byte.isLetter || byte.isDigit || "-_".utf8.contains(byte)
    }
    return (isName ? subject.name : "query\(index)") + ".Record"
  }
}

extension OpenAPIDocument.Subject {
  /// The record as an object, column by column.
  fileprivate var recordSchema: JSONTree {
    let names = layout.columns
    let properties = names.enumerated().map { index, name in
      (name, layout.type(ofColumn: index)?.schema ?? storedSchema(ofColumn: index))
    }
    return [
      "type": "object", "properties": .object(properties),
      "required": .array(names.map(JSONTree.string)), "additionalProperties": false,
    ]
  }

  private func storedSchema(ofColumn index: Int) -> JSONTree {
    storedTypes.indices.contains(index) ? storedTypes[index].schema : .value
  }
}

extension RecordLayout {
  fileprivate func type(ofColumn index: Int) -> ColumnType? {
    types.indices.contains(index) ? types[index] : nil
  }
}

extension RecordsService {
  /// `GET /v1/openapi.json`
  func describeInterface(_ request: Request, _ responder: Responder) {
    // The types are read from the database, which a connection's loop must not wait for.
    QueryPlan.queue.async {
      responder.respond(
        Self.answer {
          try QueryItems(request.query).refuseParameters()
          let document = OpenAPIDocument(
            subjects: subjects, hasCallers: gate != nil, explores: explores(request))
          return Self.json { $0.tree(document.tree) }
        })
    }
  }

  /// The queries that the caller may read, without the parameters that are claims.
  private var subjects: [OpenAPIDocument.Subject] {
    visible.compactMap { entry in
      guard let query = try? entry.analysis.get() else { return nil }
      let name = entry.definition.name
      let claims = caller?.gate.access(of: name).claims ?? [:]
      return OpenAPIDocument.Subject(
        name: name, title: entry.definition.title,
        parameters: entry.definition.parameters.filter { claims[$0.name] == nil },
        orders: entry.definition.orders.map(\.name), layout: query.layout,
        storedTypes: StoredType.all(of: query.sql, database: refresher.path))
    }
  }
}
