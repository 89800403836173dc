import FetchedRecords
import HTTP1
import HTTPServer
import JSON
import OrderedResults
import QueryAnalysis

/// A request's URL query: the query's parameters, and the words that the API keeps for itself.
struct QueryItems {
  private let values: [String: String]
  private let allowed: Set<String>

  /// - Parameters:
  ///   - items: the URL's items, decoded, in their order.
  ///   - allowed: the reserved words that this resource understands.
  /// - Throws: ``Problem`` for an item that stands twice.
  init(_ items: [QueryItem], allowed: Set<String> = []) throws {
    var values: [String: String] = [:]
    for item in items where values.updateValue(item.value ?? "", forKey: item.name) != nil {
      throw Problem.badRequest("\(item.name) stands in the URL twice: give it once")
    }
    self.values = values
    // What authenticates a request at a proxy is nobody's parameter here.
    self.allowed = allowed.union(["access_token"])
  }

  subscript(name: String) -> String? { values[name] }

  func integer(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
    guard let text = values[name] else { return nil }
    guard let value = Int(text), range.contains(value) else {
      let bound = range.upperBound == .max ? "" : " and at most \(range.upperBound)"
      throw Problem.badRequest(
        "\(name)=\(text): give an integer, at least \(range.lowerBound)\(bound)")
    }
    return value
  }

  func flag(_ name: String) throws -> Bool? {
    switch values[name] {
    case nil: return nil
    case "true", "1": return true
    case "false", "0": return false
    case let text?: throw Problem.badRequest("\(name)=\(text): give true or false")
    }
  }

  /// Values for the parameters that `definition` declares.
  ///
  /// - Parameters:
  ///   - definition: of the query.
  ///   - caller: whose claims are the values of some of them.
  /// - Returns: a value for each.
  /// - Throws: ``Problem`` for an item that is no parameter, one that is missing without a default,
  ///   one that is not of its type, and for a claim that is missing.
  func arguments(
    for definition: QueryDefinition, of caller: Caller? = nil
  ) throws -> QueryArguments {
    var arguments: QueryArguments = [:]
    var parameters: [QueryParameter] = []
    for parameter in definition.parameters {
      guard let value = try caller?.value(of: parameter, in: definition.name) else {
        parameters.append(parameter)
        continue
      }
      guard values[parameter.name] == nil else {
        throw Problem.badRequest(
          "\(parameter.name) is not for you to choose: leave it out of the URL")
      }
      arguments[parameter.name] = value
    }
    if !definition.orders.isEmpty {
      arguments[QueryDefinition.orderParameter] = .text(try order(among: definition.orders).name)
    }
    for name in values.keys.sorted() where !allowed.contains(name) {
      if name == QueryDefinition.orderParameter, !definition.orders.isEmpty { continue }
      guard parameters.contains(where: { $0.name == name }) else {
        throw unknown(name, among: parameters.map(\.name))
      }
    }
    for parameter in parameters {
      if let text = values[parameter.name] {
        arguments[parameter.name] = try parameter.value(of: text)
      } else if let value = parameter.defaultValue {
        arguments[parameter.name] = value
      } else {
        throw Problem.badRequest(
          "the parameter \(parameter.name) (\(parameter.type.rawValue)) is missing: "
            + "add \(parameter.name)=… to the URL")
      }
    }
    return arguments
  }

  /// The order that is asked for, or else the first.
  private func order(among orders: [QueryDefinition.Order]) throws -> QueryDefinition.Order {
    guard let name = values[QueryDefinition.orderParameter] else { return orders[0] }
    if let order = orders.first(where: { $0.name == name }) { return order }
    let names = orders.map(\.name)
    let near = NearestWord.find(name, among: names).map { "did you mean \($0)? " } ?? ""
    throw Problem.badRequest(
      "there is no order \(name): \(near)the query declares \(names.joined(separator: ", "))")
  }

  /// Refuses whatever is not a word that the resource understands.
  func refuseParameters() throws {
    _ = try arguments(for: QueryDefinition(name: "", form: .sql("")))
  }

  private func unknown(_ name: String, among names: [String]) -> Problem {
    if name == QueryDefinition.orderParameter {
      return .badRequest("there is no order to choose: the query declares no `orders`")
    }
    if ParameterName.reserved.contains(name) {
      return .badRequest("\(name) means nothing to this resource: leave it out")
    }
    if names.isEmpty {
      return .badRequest("there is no parameter \(name): the query declares no parameters")
    }
    let near = NearestWord.find(name, among: names).map { "did you mean \($0)? " } ?? ""
    return .badRequest(
      "there is no parameter \(name): \(near)the query declares \(names.joined(separator: ", "))")
  }
}

extension QueryParameter {
  /// Reads the parameter's text in a URL.
  func value(of text: String) throws -> Value {
    switch type {
    case .text:
      return .text(text)
    case .integer:
      if let value = Int64(text) { return .integer(value) }
    case .real:
      if let value = Double(text), value.isFinite { return .real(value) }
    case .blob:
      if let bytes = [UInt8](base64: text) { return .blob(bytes) }
    }
    throw Problem.badRequest("\(name)=\(text): \(name) is \(typeInWords)")
  }

  private var typeInWords: String {
    switch type {
    case .text: "text"
    case .integer: "an integer from -9223372036854775808 to 9223372036854775807"
    case .real: "a finite number such as 1.5 or 2e3"
    case .blob: "a blob: write its bytes in base64 (RFC 4648), percent-encoded"
    }
  }
}
