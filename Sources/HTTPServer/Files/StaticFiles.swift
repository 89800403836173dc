import HTTP1
import HTTPTypes

/// Answers GET and HEAD with the files of a folder, and with nothing outside of it.
///
/// A path's segments come decoded and without dot segments. One that could mean more than one name
/// (with a slash or a NUL in it) is refused; then all symbolic links are resolved, and the result
/// must still be in the folder. Names that begin with a dot are not shown: `.git`, `.env`.
///
/// The calls wait for the disk, on the connection's loop: the folder is small and in memory.
package struct StaticFiles: Sendable {
  private let root: String
  private let cacheControl: String

  /// A folder, or nil where there is none.
  ///
  /// - Parameters:
  ///   - folder: The path of the folder.
  ///   - cacheControl: Sent with each file. Default `no-cache`: a client may keep it, and asks
  ///     whether it still holds.
  package init?(folder: String, cacheControl: String = "no-cache") {
    guard let root = FileSystem.realPath(folder), case .folder = FileSystem.open(root) else {
      return nil
    }
    self.root = root
    self.cacheControl = cacheControl
  }

  /// Answers a request, whose method is GET or HEAD.
  package func handle(_ request: Request, _ responder: Responder) {
    responder.respond(response(to: request))
  }

  package func response(to request: Request) -> Response {
    switch find(request.path) {
    case .file(let file, let path): return response(to: request, file, path: path)
    case .folderWithoutSlash: return redirect(request)
    case .none: return Problem.response(Problem(.notFound, "There is no such file."))
    }
  }
}

extension StaticFiles {
  private enum Found {
    case file(FileSystem.File, path: String)
    case folderWithoutSlash
    case none
  }

  private func find(_ segments: [String]) -> Found {
    var names = segments
    let wantsFolder = names.isEmpty || names.last == ""
    if names.last == "" { names.removeLast() }
    guard names.allSatisfy(Self.isName) else { return .none }
    if wantsFolder { names.append("index.html") }
    guard let path = FileSystem.realPath(root + "/" + names.joined(separator: "/")),
      path.hasPrefix(root == "/" ? "/" : root + "/")
    else { return .none }
    switch FileSystem.open(path) {
    case .file(let file): return .file(file, path: path)
    case .folder: return wantsFolder ? .none : .folderWithoutSlash
    case .none: return .none
    }
  }

  /// Whether a decoded segment is the name of one entry.
  private static func isName(_ segment: String) -> Bool {
    !segment.isEmpty && !segment.hasPrefix(".")
      && !segment.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
  }

  /// So that relative links of the folder's page work.
  ///
  /// The location is made of checked segments, and begins with one slash: `//host` would be
  /// another site. The query stays as it was sent.
  private func redirect(_ request: Request) -> Response {
    let path = request.prefix + "/" + request.encodedPath.joined(separator: "/") + "/"
    let query = request.target.firstIndex(of: "?").map { request.target[$0...] } ?? ""
    return Response(.permanentRedirect, [.location: path + query])
  }
}

extension StaticFiles {
  private func response(to request: Request, _ file: FileSystem.File, path: String) -> Response {
    let validators = Validators(file, now: SystemCalls.wallClock())
    var fields = validators.fields
    fields[.cacheControl] = cacheControl
    fields[.acceptRanges] = "bytes"
    // Closes the descriptor whatever becomes of the request.
    let body = FileBody(descriptor: file.descriptor, offset: 0, length: file.size)
    switch ByteRange.requested(by: request, size: file.size, isCurrent: validators.isCurrent) {
    case .unsatisfiable:
      return Problem.response(.unsatisfiable("The file", size: file.size, fields))
    case .whole:
      describe(path, in: &fields)
      return Response(.ok, fields, body: .file(body))
    case .part(let range):
      describe(path, in: &fields)
      fields[.contentRange] = range.contentRange(of: file.size)
      return Response(.partialContent, fields, body: .file(body.part(range)))
    }
  }

  private func describe(_ path: String, in fields: inout HTTPFields) {
    let type = ContentType.of(path: path)
    fields[.contentType] = type
    // A page of another site could lay itself over this one and have people click on what they do
    // not see. A page says the rest of its policy in a `meta` element, where this would mean nothing
    // (https://www.w3.org/TR/CSP3/#meta-element).
    if type.hasPrefix("text/html") {
      fields[.contentSecurityPolicy] = "frame-ancestors 'self'"
    }
  }
}
