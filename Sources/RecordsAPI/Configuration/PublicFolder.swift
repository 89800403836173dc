package import Foundation

/// Where the files of the page are.
package enum PublicFolder {
  /// The environment variable that names the folder, for packages and containers.
  package static let variable = "DIDCHANGE_PUBLIC"

  /// A folder that was named and is none.
  package struct NoFolder: Error, Equatable, CustomStringConvertible {
    package let description: String
  }

  /// Finds the folder; nil: there is no page, only the interface.
  ///
  /// What is named explicitly must be there; the usual places are tried in turn: beside the
  /// executable, where an archive is unpacked; in `../share/didchange`, where a package puts it; in
  /// the working directory, where a developer stands.
  package static func find(
    named option: String?, environment: [String: String] = ProcessInfo.processInfo.environment,
    executable: URL? = Bundle.main.executableURL
  ) throws(NoFolder) -> String? {
    if let option { return try check(option, "--public") }
    if let named = environment[variable], !named.isEmpty { return try check(named, variable) }
    let folder = executable?.resolvingSymlinksInPath().deletingLastPathComponent()
    let usual: [String?] = [
      folder?.appending(path: "Public").path,
      folder?.deletingLastPathComponent().appending(path: "share/didchange/Public").path,
      "Public",
    ]
    return usual.compactMap { $0 }.first(where: NearestFile.isFolder)
  }

  private static func check(_ path: String, _ source: String) throws(NoFolder) -> String {
    guard NearestFile.isFolder(path) else {
      throw NoFolder(description: "\(source): there is no folder \(path)")
    }
    return path
  }
}
