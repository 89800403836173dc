import Foundation

extension LaunchSettings {
  /// Refuses a folder of the page from which the database or the configuration could be downloaded.
  ///
  /// The files beside a database (`-wal`, `-journal`, the caches of its queries) are where the
  /// database is, or where its name is: SQLite follows a symbolic link, the caches do not.
  ///
  /// - Throws: ``ConfigurationProblems`` with every file that is in the folder.
  func checkPublicFolder() throws(ConfigurationProblems) {
    guard let publicFolder else { return }
    let root = RealPath(publicFolder)
    var problems: [ConfigurationProblem] = []
    func check(_ path: String, _ what: String, _ file: String?, _ position: TextPosition) {
      guard RealPath(path).isInside(root) || RealPath(folderOf: path).isInside(root) else { return }
      problems.append(
        ConfigurationProblem(
          file: file, position: position,
          message:
            "\(what) is in the folder of the page, \(publicFolder): anybody could download it",
          mend: "move it out of there, or name another folder with --public"))
    }
    if let database {
      let isConfigured = database == configuration?.database
      check(
        database, "the database \(database)", isConfigured ? configuration?.file : nil,
        configuration?.position(of: .database) ?? .start)
    }
    if let configuration { check(configuration.file, "this file", configuration.file, .start) }
    if !problems.isEmpty { throw ConfigurationProblems(problems) }
  }
}

/// A path without symbolic links and dots.
private struct RealPath {
  private let components: [String]

  init(_ path: String) {
    components = URL(fileURLWithPath: path).resolvingSymlinksInPath().pathComponents
  }

  /// Of the folder in which a path's last name stands.
  init(folderOf path: String) {
    self.init(URL(fileURLWithPath: path).deletingLastPathComponent().path)
  }

  /// Also the folder itself is inside of it.
  func isInside(_ folder: RealPath) -> Bool { components.starts(with: folder.components) }
}
