import Foundation

/// How an exploration is asked for.
enum Exploration {
  /// `POST` it there.
  static func path(_ sql: String) -> String {
    let letters = CharacterSet.alphanumerics.intersection(
      CharacterSet(charactersIn: "\0"..."\u{7F}"))
    return "/v1/explore?sql=" + (sql.addingPercentEncoding(withAllowedCharacters: letters) ?? "")
  }
}

extension ServerFixture {
  /// The answer to who has a SELECT be a query.
  func explore(_ sql: String, _ fields: [String] = []) throws -> HTTPClient.Answer {
    try client().send("POST", Exploration.path(sql), fields)
  }

  /// The name of the query that a SELECT becomes.
  func exploration(_ sql: String) throws -> String {
    let answer = try explore(sql)
    guard answer.status == 200, let name = try answer.json["name"].string else {
      throw ContractViolation("no exploration: \(answer.status) \(answer.text)")
    }
    return name
  }
}
