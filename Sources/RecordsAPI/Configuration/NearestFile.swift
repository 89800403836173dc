import Foundation

/// What to say about a path at which there is no file.
enum NearestFile {
  static func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
      && isFolder.boolValue
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
