import Foundation

/// A file system of 256 KiB in memory, which only the programs see that are started inside it.
///
/// It lives in a mount namespace, which goes away with the program that holds it: man 7
/// mount_namespaces.
final class SmallDisk {
  private let holder: ChildProcess
  private let isPrivileged: Bool
  /// Where it is, for programs inside.
  let path: String

  /// How a namespace is made: as root, or as a user who is root in a namespace of users.
  private static let ways = [
    ["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"],
  ]

  /// nil: the system allows neither.
  private static let way = ways.first { way in
    let words = way + ["sh", "-c", "mount -t tmpfs none /mnt"]
    return (try? ChildProcess.run(words[0], Array(words.dropFirst())))?.exitCode == 0
  }

  static var isAvailable: Bool { way != nil }

  /// Mounts it at a folder.
  init(at path: String) throws {
    self.path = path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let way = Self.way ?? Self.ways[0]
    isPrivileged = way == Self.ways[0]
    holder = try ChildProcess(
      way[0],
      way.dropFirst() + [
        "sh", "-c", "mount -t tmpfs -o size=256k none \"$0\" && echo mounted && exec cat", path,
      ])
    guard try holder.output.next() == "mounted" else {
      throw ContractViolation("no file system: \(try holder.errors.rest())")
    }
  }

  /// What to start a program with that is to see it.
  var command: [String] {
    let user = isPrivileged ? [] : ["--user", "--preserve-credentials"]
    return ["nsenter", "--target", "\(holder.identifier)", "--mount"] + user + ["--wd=/", "--"]
  }

  /// Runs a line of shell inside, in its folder.
  func run(_ line: String) throws -> String {
    let words = command + ["sh", "-c", "cd \"$0\" && \(line)", path]
    let result = try ChildProcess.run(words[0], Array(words.dropFirst()))
    guard result.exitCode == 0 else { throw ContractViolation("\(line): \(result.errors)") }
    return result.output
  }

  /// Leaves no room.
  func fill() throws {
    let output = try run("cat /dev/zero > ballast 2>&1 || df --output=avail . | tail -1")
    guard output.hasSuffix("0") else { throw ContractViolation("there is room: \(output)") }
  }

  func makeRoom() throws { _ = try run("rm ballast") }
}
