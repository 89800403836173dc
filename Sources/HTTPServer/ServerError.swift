/// Why a server did not start.
package enum ServerError: Error, Equatable, CustomStringConvertible {
  case cannotListen(host: String, port: Int, reason: String)
  case cannotListenAt(path: String, reason: String)
  case outOfDescriptors
  case alreadyStarted

  /// What is wrong, and what would mend it.
  package var description: String {
    switch self {
    case .cannotListen(let host, let port, let reason):
      "cannot listen on \(host):\(port): \(reason)"
    case .cannotListenAt(let path, let reason): "cannot listen on unix:\(path): \(reason)"
    case .outOfDescriptors: "no file descriptor is left; raise the limit (ulimit -n)"
    case .alreadyStarted: "the server was started before"
    }
  }
}
