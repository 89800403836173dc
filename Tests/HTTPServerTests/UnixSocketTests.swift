import HTTPTypes
import TestSupport
import Testing

@testable import HTTPServer

private let hello: Server.Handler = { request, responder in
  responder.respond(.ok, body: .text("hello \(request.remoteAddress)"))
}

private func fetch(_ path: String) -> String {
  Curl(socketPath: path).fetch("http://any.host/").text
}

@Test func `a Unix-domain socket is listened on, and taken away at the end`() throws {
  let folder = try TemporaryFolder()
  let path = folder.path + "/http.sock"
  let server = try TestServer(configure: { $0.unixSocketPath = path }, handler: hello)
  #expect(fetch(path) == "hello unix")
  #expect(throws: ServerError.self) {
    try TestServer(configure: { $0.unixSocketPath = path }, handler: hello)
  }
  #expect(fetch(path) == "hello unix")
  server.stop()
  #expect(FileSystem.realPath(path) == nil)
}

/// A server that was killed leaves its socket behind.
@Test func `an abandoned socket is replaced`() throws {
  let folder = try TemporaryFolder()
  let path = folder.path + "/http.sock"
  SystemCalls.close(try ListeningSockets.open(path: path).descriptor)
  #expect(FileSystem.realPath(path) != nil)
  try withServer(configure: { $0.unixSocketPath = path }, handler: hello) { _ in
    #expect(fetch(path) == "hello unix")
  }
}

@Test func `a file that is no socket stays`() throws {
  let folder = try TemporaryFolder()
  try folder.write("precious", to: "file")
  let path = folder.path + "/file"
  #expect(throws: ServerError.cannotListenAt(path: path, reason: "Address already in use")) {
    try TestServer(configure: { $0.unixSocketPath = path }, handler: hello)
  }
  #expect(FileSystem.realPath(path) != nil)
  let long = folder.path + "/" + String(repeating: "a", count: 120)
  #expect(throws: ServerError.self) {
    try TestServer(configure: { $0.unixSocketPath = long }, handler: hello)
  }
}
