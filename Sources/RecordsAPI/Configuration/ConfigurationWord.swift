/// The vocabulary of one level of a configuration file.
package protocol ConfigurationWord: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
  /// What the words belong to, with its article: "a query".
  static var owner: String { get }
  /// Words that people bring from elsewhere and that no edit distance would find.
  static var synonyms: [String: Self] { get }
}

extension ConfigurationWord {
  static var listed: String { allCases.map(\.rawValue).joined(separator: ", ") }

  /// The word that was probably meant by an unknown one.
  static func nearest(to text: String) -> Self? {
    synonyms[text.lowercased()]
      ?? NearestWord.find(text, among: allCases.map(\.rawValue)).flatMap { Self(rawValue: $0) }
  }
}

/// The words of the file itself.
package enum FileWord: String, ConfigurationWord {
  case database, listen, hosts, queries, limits, timeouts, cors, proxies, accessLog, callers
  case versionKey, caches, columns

  package static let owner = "the configuration"
  package static let synonyms: [String: FileWord] = [
    "db": .database, "file": .database, "path": .database, "sqlite": .database,
    "address": .listen, "bind": .listen, "host": .listen, "port": .listen,
    "allowedhosts": .hosts, "servernames": .hosts, "servername": .hosts, "names": .hosts,
    "tables": .queries, "views": .queries, "limit": .limits, "timeout": .timeouts,
    "origins": .cors, "trustedproxies": .proxies, "log": .accessLog,
    "auth": .callers, "authentication": .callers, "users": .callers, "etagkey": .versionKey,
    "digestkey": .versionKey, "types": .columns, "columntypes": .columns, "caching": .caches,
    "cdn": .caches, "sharedcaches": .caches,
  ]
}

/// The words of a query.
package enum QueryWord: String, ConfigurationWord {
  case title, table, sql, fields, `where`, groupBy, having, order, orders, section
  case sectionIndexTitle, key, columns, parameters, alongside, cache, allow

  package static let owner = "a query"
  package static let synonyms: [String: QueryWord] = [
    "name": .title, "from": .table, "view": .table, "query": .sql, "statement": .sql,
    "select": .fields, "types": .columns, "columntypes": .columns, "filter": .where,
    "predicate": .where,
    "condition": .where, "group": .groupBy, "sort": .order, "orderby": .order,
    "sorts": .orders, "orderings": .orders, "sections": .section,
    "primarykey": .key, "id": .key, "arguments": .parameters, "args": .parameters,
    "params": .parameters, "totals": .alongside, "cached": .cache, "persistent": .cache,
    "access": .allow, "roles": .allow,
  ]

  /// The words that say what the engine shall write; a query with its own SQL has no use for them.
  static let declarationOnly: [QueryWord] = [
    .fields, .where, .groupBy, .having, .order, .orders,
  ]
}

/// The words of a parameter.
package enum ParameterWord: String, ConfigurationWord {
  case type, `default`, claim

  package static let owner = "a parameter"
  package static let synonyms: [String: ParameterWord] = ["value": .default, "kind": .type]
}
