import HTTP1
import HTTPServer
import HTTPTypes
import TestSupport
import Testing

private func withFolder(_ test: (TestServer, TemporaryFolder) throws -> Void) throws {
  let folder = try TemporaryFolder()
  try folder.write("<p>index", to: "public/index.html")
  try folder.write("0123456789", to: "public/app.js")
  try folder.write("<p>sub", to: "public/sub/index.html")
  try folder.write("a b", to: "public/sub/a b.txt")
  try folder.write("secret", to: "public/.env")
  try folder.write("secret", to: "secret.txt")
  try folder.write("secret", to: "public-too/secret.txt")
  try folder.link("public/inside.txt", to: "sub/a b.txt")
  try folder.link("public/outside.txt", to: "../secret.txt")
  try folder.link("public/outside", to: "..")
  try folder.link("public/root", to: "/")
  let files = try #require(StaticFiles(folder: folder.path + "/public"))
  try withServer(handler: { files.handle($0, $1) }) { try test($0, folder) }
}

@Test func `files are served with type, size and validators`() throws {
  try withFolder { server, _ in
    let client = try RawClient(port: server.port)
    let script = try client.get("/app.js")
    #expect(script.status == 200)
    #expect(script.text == "0123456789")
    #expect(script["content-type"] == "text/javascript; charset=utf-8")
    #expect(script["etag"]?.hasPrefix("\"") == true)
    #expect(script["last-modified"]?.hasSuffix("GMT") == true)
    #expect(script["accept-ranges"] == "bytes")
    #expect(script["x-content-type-options"] == "nosniff")
    #expect(try client.get("/").text == "<p>index")
    #expect(try client.get("/sub/").text == "<p>sub")
    #expect(try client.get("/sub/../app.js").text == "0123456789")
    #expect(try client.get("/sub/a%20b.txt").text == "a b")
    #expect(try client.get("/inside.txt").text == "a b")
    try client.send("HEAD /app.js HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(try client.readResponse(isHead: true)["content-length"] == "10")
    #expect(try client.get("/app.js").text == "0123456789")
  }
}

@Test func `a folder without its slash is redirected within the site`() throws {
  try withFolder { server, _ in
    let client = try RawClient(port: server.port)
    let response = try client.get("/sub")
    #expect(response.status == 308)
    #expect(response["location"] == "/sub/")
    #expect(try client.get("/sub?a=%2F/?&b")["location"] == "/sub/?a=%2F/?&b")
    #expect(try client.get("//sub").status == 404)
  }
}

@Test(arguments: [
  "/../secret.txt", "/%2e%2e/secret.txt", "/sub/../../secret.txt",
])
func `a path above the root is malformed`(path: String) throws {
  try withFolder { server, _ in
    let response = try RawClient(port: server.port).get(path)
    #expect(response.status == 400)
  }
}

@Test(arguments: [
  "/nothing", "/..%2fsecret.txt", "/%2e%2e%2fsecret.txt", "/sub%2f..%2f..%2fsecret.txt",
  "/..%5csecret.txt", "/outside.txt", "/outside/secret.txt", "/root/etc/passwd", "/root/",
  "/.env", "/app.js%00", "/app.js%00.html", "/app.js/", "//etc/passwd", "/%2fetc/passwd",
  "/sub//a%20b.txt", "/../public-too/secret.txt", "/..%2fpublic-too/secret.txt", "/a..", "/...",
])
func `there is no way out of the folder`(path: String) throws {
  try withFolder { server, _ in
    let response = try RawClient(port: server.port).get(path)
    #expect([404, 400].contains(response.status))
    #expect(!response.text.contains("secret"))
  }
}

@Test func `a client that has the file already is told so`() throws {
  try withFolder { server, folder in
    let client = try RawClient(port: server.port)
    let first = try client.get("/app.js")
    let tag = try #require(first["etag"])
    let date = try #require(first["last-modified"])
    for condition in [
      "If-None-Match: \(tag)", "If-None-Match: W/\(tag)", "If-None-Match: \"x\", \(tag)",
      "If-None-Match: *", "If-Modified-Since: \(date)",
      "If-None-Match: \(tag)\r\nIf-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT",
    ] {
      let response = try client.get("/app.js", condition)
      #expect(response.status == 304, "\(condition)")
      #expect(response["etag"] == tag)
      #expect(response["content-length"] == nil)
    }
    for condition in [
      "If-None-Match: \"x\"", "If-None-Match: x\(tag)", "If-Modified-Since: yesterday",
      "If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT",
      "If-None-Match: \"x\"\r\nIf-Modified-Since: \(date)",
    ] {
      #expect(try client.get("/app.js", condition).status == 200, "\(condition)")
    }
    try folder.write("another", to: "public/app.js")
    #expect(try client.get("/app.js", "If-None-Match: \(tag)").text == "another")
  }
}

@Test func `a client that has another file gets no part of this one`() throws {
  try withFolder { server, folder in
    let client = try RawClient(port: server.port)
    let first = try client.get("/app.js")
    let tag = try #require(first["etag"])
    let date = try #require(first["last-modified"])
    let long = "Thu, 01 Jan 1970 00:00:00 GMT"
    #expect(try client.get("/app.js", "If-Match: \(tag)").status == 200)
    #expect(try client.get("/app.js", "If-Unmodified-Since: \(date)").status == 200)
    for condition in ["If-Match: \"x\"", "If-Match: W/\(tag)", "If-Unmodified-Since: \(long)"] {
      for range in ["Range: bytes=0-1", "Range: bytes=99-", "Range: lines=1"] {
        #expect(try client.get("/app.js", condition, range).status == 412, "\(condition) \(range)")
      }
    }
    // RFC 9110 §14.2: the range comes after the conditions.
    for range in ["Range: bytes=0-1", "Range: bytes=99-"] {
      let unchanged = try client.get("/app.js", "If-None-Match: \(tag)", range)
      #expect(unchanged.status == 304)
      #expect(unchanged["content-range"] == nil)
      #expect(unchanged["cache-control"] == "no-cache")
      #expect(unchanged["etag"] == tag)
    }
    #expect(try client.get("/app.js", "If-Match: \(tag)", "Range: bytes=0-1").status == 206)
  }
}

/// RFC 9110 §13.1.5, §8.8.2.2.
@Test func `a part by date is given of a file that has rested`() throws {
  try withFolder { server, folder in
    let client = try RawClient(port: server.port)
    func range(_ condition: String?) throws -> Int {
      try client.get("/app.js", "Range: bytes=0-1", "If-Range: \(condition ?? "")").status
    }
    let fresh = try client.get("/app.js")
    // It may have changed twice within this second.
    #expect(try range(fresh["last-modified"]) == 200)
    #expect(try range(fresh["etag"]) == 206)
    #expect(try range("W/\(fresh["etag"] ?? "")") == 200)
    try folder.setModified("public/app.js", to: 784_111_777)
    #expect(try range("Sun, 06 Nov 1994 08:49:37 GMT") == 206)
    #expect(try range("Sunday, 06-Nov-94 08:49:37 GMT") == 206)
    #expect(try range("Sun, 06 Nov 1994 08:49:36 GMT") == 200)
    #expect(try range("Sun, 06 Nov 1994 08:49:38 GMT") == 200)
    #expect(try range(fresh["etag"]) == 200)
  }
}

/// RFC 9110 §8.8.2.1.
@Test func `no file was modified later than its answer`() throws {
  try withFolder { server, folder in
    let client = try RawClient(port: server.port)
    try folder.setModified("public/app.js", to: 4_000_000_000)
    let early = try client.get("/app.js")
    #expect(early["last-modified"] == early["date"])
    let date = try #require(early["date"].flatMap { HTTPDate.seconds($0, now: 0) })
    #expect(date < 4_000_000_000)
    // What is true of another moment is no validator.
    #expect(
      try client.get("/app.js", "Range: bytes=0-1", "If-Range: \(early["date"] ?? "")").status
        == 200)
    #expect(
      try client.get("/app.js", "If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT").status == 200)
    try folder.setModified("public/app.js", to: 784_111_777)
    #expect(try client.get("/app.js")["last-modified"] == "Sun, 06 Nov 1994 08:49:37 GMT")
  }
}

@Test func `a page cannot be laid over by one of another site`() throws {
  try withFolder { server, _ in
    let client = try RawClient(port: server.port)
    for path in ["/", "/sub/"] {
      #expect(
        try client.get(path)["content-security-policy"] == "frame-ancestors 'self'", "\(path)")
    }
    #expect(try client.get("/app.js")["content-security-policy"] == nil)
  }
}

@Test(arguments: [
  ("0-0", "0", "0-0"), ("2-4", "234", "2-4"), ("8-", "89", "8-9"), ("-3", "789", "7-9"),
  ("-99", "0123456789", "0-9"), ("9-99999999999999999999", "9", "9-9"),
])
func `one range is answered with that part`(range: String, text: String, sent: String) throws {
  try withFolder { server, _ in
    let response = try RawClient(port: server.port).get("/app.js", "Range: bytes=\(range)")
    #expect(response.status == 206)
    #expect(response.text == text)
    #expect(response["content-range"] == "bytes \(sent)/10")
  }
}

@Test(arguments: ["10-", "99-100", "-0", "99999999999999999999-"])
func `a range beyond the file is 416`(range: String) throws {
  try withFolder { server, _ in
    let response = try RawClient(port: server.port).get("/app.js", "Range: bytes=\(range)")
    #expect(response.status == 416)
    #expect(response["content-range"] == "bytes */10")
  }
}

@Test(arguments: [
  "bytes=4-2", "bytes=-", "bytes=a-b", "bytes=0-1,3-4", "lines=0-1", "bytes 0-1", "bytes=+1-2",
  "bytes=0-1\r\nIf-Range: \"x\"",
])
func `what is no single range is answered with the whole`(range: String) throws {
  try withFolder { server, _ in
    let response = try RawClient(port: server.port).get("/app.js", "Range: \(range)")
    #expect(response.status == 200)
    #expect(response.text == "0123456789")
  }
}

@Test func `a large file is sent as the client reads`() throws {
  try withFolder { server, folder in
    let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    try folder.write(bytes, to: "public/large.bin")
    #expect(Curl().fetch(server.url("/large.bin")).body == bytes)
    let part = Curl(headers: ["Range: bytes=1000000-1999999"]).fetch(server.url("/large.bin"))
    #expect(part.body == Array(bytes[1_000_000..<2_000_000]))
  }
}

@Test func `a folder that is not there is none`() {
  #expect(StaticFiles(folder: "/nowhere/at/all") == nil)
}
