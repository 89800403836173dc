import TestSupport
import Testing

@testable import HeldMemory

@Suite struct `The memory of a system` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func limit(groups: String, _ files: [String: String]) throws -> Int {
    try folder.write(groups, to: "proc/self/cgroup")
    for (path, text) in files { try folder.write(text, to: path) }
    return SystemMemory.limit(root: folder.path + "/")
  }

  @Test func `is the machine's where there is no container`() throws {
    #expect(SystemMemory.limit(root: folder.path + "/") == SystemMemory.limit(root: "/none/"))
    #expect(SystemMemory.limit(root: folder.path + "/") > 64 << 20)
  }

  @Test func `is that of the narrowest group`() throws {
    let bytes = try limit(
      groups: "0::/outer.slice/inner.scope\n",
      [
        "sys/fs/cgroup/outer.slice/memory.max": "50000000\n",
        "sys/fs/cgroup/outer.slice/inner.scope/memory.max": "60000000\n",
      ])
    #expect(bytes == 50_000_000)
  }

  @Test func `is that of a container that sees its own group as the outermost`() throws {
    #expect(try limit(groups: "0::/\n", ["sys/fs/cgroup/memory.max": "40000000\n"]) == 40_000_000)
  }

  @Test func `is the machine's where a group says max`() throws {
    let machine = SystemMemory.limit(root: "/none/")
    #expect(try limit(groups: "0::/\n", ["sys/fs/cgroup/memory.max": "max\n"]) == machine)
  }

  @Test func `is that of a group of the first version`() throws {
    let bytes = try limit(
      groups: "5:cpu,cpuacct:/a\n4:memory:/docker/b\n0::/\n",
      [
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
        "sys/fs/cgroup/memory/docker/b/memory.limit_in_bytes": "30000000\n",
      ])
    #expect(bytes == 30_000_000)
  }
}
