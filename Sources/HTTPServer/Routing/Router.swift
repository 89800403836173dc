import Algorithms
import HTTP1
package import HTTPTypes

/// Finds the handler of a request by path and method.
///
/// A word of a pattern goes before a `{parameter}` at its place. HEAD is answered by the handler of
/// GET, whose body the connection leaves out; OPTIONS lists what is allowed. O(segments) where no
/// two patterns differ only by a word and a parameter.
package struct Router: Sendable {
  private struct Node {
    /// Few, so that to compare them costs less than to hash a segment.
    var words: [(word: String, child: Int)] = []
    /// The child for any segment, also an empty one.
    var parameter: Int?
    var route: Int?

    func child(_ word: String) -> Int? { words.first { $0.word == word }?.child }
  }

  /// No tuple: a function in one is called by way of another.
  private struct MethodHandler {
    let method: HTTPRequest.Method
    let handler: Server.Handler
  }

  private struct Entry {
    let route: Route
    /// In the order of the pattern.
    var names: [String]
    var handlers: [MethodHandler] = []

    func handler(for method: HTTPRequest.Method) -> Server.Handler? {
      handlers.first { $0.method == method }?.handler
        ?? (method == .head ? handler(for: .get) : nil)
    }

    var allowed: [HTTPRequest.Method] {
      var result = handlers.map(\.method)
      if result.contains(.get), !result.contains(.head) { result.append(.head) }
      if !result.contains(.options) { result.append(.options) }
      return result
    }
  }

  private var nodes = [Node()]
  private var routes: [Entry] = []
  private var fallback: Server.Handler?

  /// A router without routes.
  package init() {}

  /// Answers a method of a path.
  ///
  /// - Parameters:
  ///   - method: The method. A pattern may have several.
  ///   - pattern: A path such as `/v1/queries/{query}/records`. A parameter is one whole segment.
  ///   - handler: Answers.
  package mutating func on(
    _ method: HTTPRequest.Method, _ pattern: String, _ handler: @escaping Server.Handler
  ) {
    let (node, names) = insert(pattern)
    let index = nodes[node].route ?? routes.count
    if index == routes.count {
      routes.append(Entry(route: Route(number: index, name: pattern), names: names))
    }
    nodes[node].route = index
    precondition(routes[index].names == names, "\(pattern): parameters have other names elsewhere")
    routes[index].handlers.append(MethodHandler(method: method, handler: handler))
  }

  /// Answers GET and HEAD of every path that has no route: static files.
  package mutating func otherwise(_ handler: @escaping Server.Handler) { fallback = handler }

  package func handle(_ request: Request, _ responder: Responder) {
    // RFC 9110 §9.3.7: `*` asks about the server as a whole.
    if request.isAboutServer {
      return respondAllowed(allMethods, responder)
    }
    var values: [PathParameters.Value] = []
    let (path, encodedPath) = (request.path, request.encodedPath)
    guard let index = find(path, encodedPath, 0, at: 0, &values) else {
      return handleOtherwise(request, responder)
    }
    let route = routes[index]
    responder.belongs(to: route.route)
    guard let handler = route.handler(for: request.method) else {
      return refuse(request, allowed: route.allowed, responder)
    }
    var request = request
    request.parameters = PathParameters(names: route.names, values: values)
    handler(request, responder)
  }
}

extension Router {
  private mutating func insert(_ pattern: String) -> (node: Int, names: [String]) {
    precondition(pattern.hasPrefix("/"), "\(pattern): a pattern begins with a slash")
    var node = 0
    var names: [String] = []
    let segments = pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    for segment in pattern == "/" ? [] : segments {
      if segment.hasPrefix("{"), segment.hasSuffix("}") {
        names.append(String(segment.dropFirst().dropLast()))
        node = nodes[node].parameter ?? addNode { $0.nodes[node].parameter = $1 }
      } else {
        let word = String(segment)
        node = nodes[node].child(word) ?? addNode { $0.nodes[node].words.append((word, $1)) }
      }
    }
    return (node, names)
  }

  private mutating func addNode(_ link: (inout Router, Int) -> Void) -> Int {
    nodes.append(Node())
    link(&self, nodes.count - 1)
    return nodes.count - 1
  }

  /// The route of the path from a segment on, below a node.
  private func find(
    _ path: [String], _ encodedPath: [String], _ depth: Int, at node: Int,
    _ values: inout [PathParameters.Value]
  ) -> Int? {
    guard depth < path.count else { return nodes[node].route }
    if let child = nodes[node].child(path[depth]),
      let route = find(path, encodedPath, depth + 1, at: child, &values)
    {
      return route
    }
    guard let child = nodes[node].parameter else { return nil }
    values.append(PathParameters.Value(decoded: path[depth], encoded: encodedPath[depth]))
    if let route = find(path, encodedPath, depth + 1, at: child, &values) { return route }
    values.removeLast()
    return nil
  }

  private func handleOtherwise(_ request: Request, _ responder: Responder) {
    guard let fallback else {
      let problem = Problem(.notFound, "There is nothing at this path.")
      return responder.respond(Problem.response(problem))
    }
    responder.belongs(to: .otherwise)
    switch request.method {
    case .get, .head: fallback(request, responder)
    default: refuse(request, allowed: [.get, .head, .options], responder)
    }
  }

  private func refuse(
    _ request: Request, allowed: [HTTPRequest.Method], _ responder: Responder
  ) {
    if request.method == .options { return respondAllowed(allowed, responder) }
    // RFC 9110 §15.6.2: a method that nobody here knows is 501, and not the resource's fault.
    guard Self.standardMethods.contains(request.method) || allMethods.contains(request.method)
    else {
      let problem = Problem(.notImplemented, "The method is not known here.")
      return responder.respond(Problem.response(problem))
    }
    let problem = Problem(
      .methodNotAllowed, "This resource allows \(Self.list(allowed)).",
      fields: [.allow: Self.list(allowed)])
    responder.respond(Problem.response(problem))
  }

  private func respondAllowed(_ allowed: [HTTPRequest.Method], _ responder: Responder) {
    responder.respond(.noContent, [.allow: Self.list(allowed)])
  }

  private var allMethods: [HTTPRequest.Method] {
    let others: [HTTPRequest.Method] = fallback == nil ? [.options] : [.get, .head, .options]
    return Array((others + routes.flatMap(\.allowed)).uniqued())
  }

  private static let standardMethods: [HTTPRequest.Method] = [
    .get, .head, .post, .put, .delete, .options, .trace, .patch,
  ]

  private static func list(_ methods: [HTTPRequest.Method]) -> String {
    methods.map(\.rawValue).joined(separator: ", ")
  }
}
