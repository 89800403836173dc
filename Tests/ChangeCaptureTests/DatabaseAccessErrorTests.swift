import GRDB
import Testing

@testable import ChangeCapture

@Suite struct DatabaseAccessErrorTests {
  private func advice(
    _ code: ResultCode, directory: String? = "/data", isDirectoryWritable: Bool = true,
    fileExists: Bool = true, isFile: Bool = true
  ) -> String {
    DatabaseAccessError(
      path: "/data/music.db", code: code, message: "message",
      surroundings: .init(
        directory: directory, isDirectoryWritable: isDirectoryWritable, fileExists: fileExists,
        isFile: isFile)
    ).description
  }

  @Test func `a write-ahead database in a directory that cannot be written says so`() {
    for code in [ResultCode.SQLITE_CANTOPEN, .SQLITE_READONLY_CANTINIT, .SQLITE_READONLY_DIRECTORY]
    {
      let text = advice(code, isDirectoryWritable: false)
      #expect(text.contains("-shm") && text.contains("/data:"), "\(text)")
    }
  }

  @Test func `each kind of trouble has its mend`() {
    #expect(advice(.SQLITE_CANTOPEN, directory: nil).contains("directory does not exist"))
    #expect(advice(.SQLITE_CANTOPEN, fileExists: false).contains("file does not exist"))
    #expect(advice(.SQLITE_CANTOPEN, isFile: false).contains("regular file"))
    #expect(advice(.SQLITE_IOERR_SHMSIZE).contains("no room on the disk of /data"))
    #expect(advice(.SQLITE_NOTADB).contains("not an SQLite database"))
    #expect(advice(.SQLITE_CORRUPT).contains("integrity_check"))
    #expect(advice(.SQLITE_READONLY_ROLLBACK).contains("killed"))
    #expect(advice(.SQLITE_BUSY).contains("locked"))
    #expect(advice(.SQLITE_NOMEM).contains("rescode"))
    #expect(advice(.SQLITE_NOTADB).hasPrefix("cannot read the database /data/music.db: message"))
  }
}
