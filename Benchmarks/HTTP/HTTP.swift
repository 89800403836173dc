import ArgumentParser
import Foundation

/// Streams and pages against raw C on epoll, and against nginx where there is one.
struct HTTP: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Fan-out to many streams, pages, 304s, connections and memory, against peers.",
    discussion: """
      Each server has the first core, the load the second. The peers take turns, and figures are \
      medians of the rounds. Needs cc, taskset, curl and wrk; nginx, its nchan module and \
      Hummingbird (a package of its own: swift build -c release --package-path \
      Benchmarks/HTTP/HummingbirdPeer) are measured where they are found.
      """)

  @Option(help: "Open streams.") var streams = 10_000
  @Option(help: "Events of each measurement.") var events = 60
  @Option(help: "How often the peers take turns.") var rounds = 3
  @Option(help: "Seconds of each measurement of requests.") var seconds = 3
  @Option(help: "The server's executable.") var server = ".build/release/didchange"
  @Option(help: "The folder of the C programs.") var tools = "Benchmarks/HTTP/Tools"
  @Option(help: "nginx.") var nginx = "/usr/sbin/nginx"
  @Option(help: "A server on Hummingbird.")
  var hummingbird = "Benchmarks/HTTP/HummingbirdPeer/.build/release/hummingbird-server"
  @Option(help: "nginx's module for streams.")
  var nchan = "/usr/lib/nginx/modules/ngx_nchan_module.so"

  /// What is measured of each peer.
  private enum Figure: CaseIterable {
    case fanOut, fanOutCPU, fourInFlight, fourCPU, page, pageCPU, notModified, notModifiedCPU
    case memory, opening

    var title: String {
      switch self {
      case .fanOut: "deliveries/s, one event at a time"
      case .fanOutCPU: "server CPU of each, µs"
      case .fourInFlight: "deliveries/s, four in flight"
      case .fourCPU: "server CPU of each, µs"
      case .page: "GET of 10 kB, 1/s"
      case .pageCPU: "server CPU of each, µs"
      case .notModified: "304, 1/s"
      case .notModifiedCPU: "server CPU of each, µs"
      case .memory: "KiB a stream"
      case .opening: "s to open all"
      }
    }
  }

  func run() throws {
    let tools = try Tools(sources: tools)
    let database = try SampleDatabase(rows: 1000)
    var starts: [(name: String, start: () throws -> Peer)] = [
      ("raw C", { try Peer("raw C", port: 18_101, [tools.rawsse, "18101", "1", "send", "1"]) }),
      ("HTTPServer", { try startServer() }), ("didchange", { try startProduct(database, tools) }),
    ]
    if FileManager.default.isExecutableFile(atPath: nginx) {
      starts.append(("nginx", { try startNginx(tools) }))
    }
    if FileManager.default.isExecutableFile(atPath: hummingbird) {
      starts.append(
        ("Hummingbird", { try Peer("Hummingbird", port: 18_105, [hummingbird, "18105"]) }))
    }
    var values: [String: [Figure: [Double]]] = [:]
    for round in 1...rounds {
      for (name, start) in starts {
        FileHandle.standardError.write(Data("round \(round): \(name)\n".utf8))
        // Each with a process of its own: what one has left behind is not the next one's to bear.
        for measure in [measureRequests, measureOneInFlight, measureFourInFlight] {
          let peer = try start()
          defer { peer.stop() }
          for (figure, value) in try measure(peer, tools) {
            values[name, default: [:]][figure, default: []].append(value)
          }
        }
      }
    }
    print("\(streams) streams, \(events) events of 200 bytes, medians of \(rounds)\n")
    let rows = Figure.allCases.map { figure in
      [figure.title]
        + starts.map { name, _ in
          guard let median = values[name]?[figure]?.median else { return "" }
          guard name != "raw C", let raw = values["raw C"]?[figure]?.median, raw > 0 else {
            return median.short
          }
          return "\(median.short) (\((median / raw).short))"
        }
    }
    printTable(["in brackets: to raw C"] + starts.map(\.name), rows)
  }

  private func measureRequests(_ peer: Peer, _ tools: Tools) throws -> [Figure: Double] {
    var result: [Figure: Double] = [:]
    let page = try peer.requests(peer.pagePath, seconds: seconds)
    result[.page] = page?.rate
    result[.pageCPU] = page?.cpu
    if let tag = peer.entityTag {
      let unmodified = try peer.requests(
        peer.pagePath, fields: ["If-None-Match: \(tag)"], seconds: seconds)
      result[.notModified] = unmodified?.rate
      result[.notModifiedCPU] = unmodified?.cpu
    }
    return result
  }

  private func measureOneInFlight(_ peer: Peer, _ tools: Tools) throws -> [Figure: Double] {
    try measureStreams(
      peer, tools, window: 1,
      [
        .fanOut: "fan_per_s", .fanOutCPU: "srv_us_per_del", .memory: "rss_per_conn_kb",
        .opening: "conn_s",
      ])
  }

  private func measureFourInFlight(_ peer: Peer, _ tools: Tools) throws -> [Figure: Double] {
    try measureStreams(
      peer, tools, window: 4, [.fourInFlight: "thr_per_s", .fourCPU: "srv_us_per_del"])
  }

  private func measureStreams(
    _ peer: Peer, _ tools: Tools, window: Int, _ names: [Figure: String]
  ) throws -> [Figure: Double] {
    guard peer.streamPath != nil else { return [:] }
    let values = try peer.stream(tools, streams: streams, events: events, window: window)
    return names.compactMapValues { values[$0] }
  }

  // MARK: - Peers

  private func startServer() throws -> Peer {
    try Peer(
      "HTTPServer", port: 18_102, [CommandLine.arguments[0], "http-server", "--port", "18102"])
  }

  /// A page of some 10 kB.
  private func startProduct(_ database: SampleDatabase, _ tools: Tools) throws -> Peer {
    let peer = try Peer(
      "didchange", port: 18_103,
      [server, "serve", database.path, "--port", "18103", "--log-level", "error"])
    let path = "/v1/queries/player/records?limit=83"
    let answer = try Tool.run(
      "/usr/bin/curl", ["-si", "http://127.0.0.1:18103\(path)"])
    peer.pagePath = path
    peer.entityTag = answer.firstMatch(of: /(?i)etag: (\S+)/).map { String($0.1) }
    peer.streamPath = nil
    return peer
  }

  private func startNginx(_ tools: Tools) throws -> Peer {
    let hasStreams = FileManager.default.fileExists(atPath: nchan)
    let page = #"{"pad":""# + String(repeating: "x", count: 10_230) + #""}"#
    let file = try tools.write("www/json10k", page)
    let folder = (file as NSString).deletingLastPathComponent
    let configuration = try tools.write(
      "nginx.conf",
      """
      \(hasStreams ? "load_module \(nchan);" : "")
      worker_processes 1;
      daemon off;
      pid \(folder)/nginx.pid;
      error_log /dev/null;
      worker_rlimit_nofile 100000;
      events { worker_connections 60000; multi_accept on; }
      http {
        access_log off;
        sendfile on; tcp_nopush on; tcp_nodelay on;
        keepalive_requests 100000000;
        open_file_cache max=10 inactive=1h;
        client_body_temp_path \(folder)/body; proxy_temp_path \(folder)/proxy;
        fastcgi_temp_path \(folder)/fastcgi; uwsgi_temp_path \(folder)/uwsgi;
        scgi_temp_path \(folder)/scgi;
        server {
          listen 127.0.0.1:18104 backlog=4096;
          root \(folder);
          \(hasStreams ? Self.nchanLocations : "")
        }
      }

      """)
    let peer = try Peer("nginx", port: 18_104, [nginx, "-c", configuration])
    let head = try Tool.run("/usr/bin/curl", ["-sI", "http://127.0.0.1:18104/json10k"])
    peer.entityTag = head.firstMatch(of: /(?i)etag: (\S+)/).map { String($0.1) }
    if !hasStreams { peer.streamPath = nil }
    return peer
  }

  private static let nchanLocations = """
    location = /sse { nchan_subscriber eventsource; nchan_channel_id a; }
    location = /pub { nchan_publisher; nchan_channel_id a; nchan_message_buffer_length 100; }
    """
}
