import Foundation

/// What to say about a path at which there is no file.
enum NearestFile {
  static func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
      && isFolder.boolValue
  }

  /// Whether there is a pipe, a device or a socket.
  static func isSpecial(_ path: String) -> Bool {
    // Of what a link leads to.
    let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    let type = try? FileManager.default.attributesOfItem(atPath: path)[.type]
    guard let type = type as? FileAttributeType else { return false }
    return ![.typeRegular, .typeDirectory].contains(type)
  }

  /// The file in the same folder whose name is nearest: `.yml` for `.yaml` is the usual slip.
  static func mend(_ path: String) -> String? {
    let url = URL(fileURLWithPath: path)
    let folder = url.deletingLastPathComponent().path
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return NearestWord.find(url.lastPathComponent, among: names.sorted()).map {
      "did you mean \"\($0)\"?"
    }
  }
}
