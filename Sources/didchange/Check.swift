import ArgumentParser
import Demo
import Foundation
import RecordsAPI

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Checks a configuration against its database, and shows its queries.",
    discussion: """
      Prints each query with its columns, key, tracking and SQL. Exits with 1 where there are \
      problems, after listing all of them on standard error as FILE:LINE:COLUMN: MESSAGE.
      """)

  @OptionGroup var arguments: DatabaseArguments

  func validate() throws {
    guard arguments.config != nil || arguments.database != nil else {
      throw ValidationError("Name a configuration with --config FILE, or a database.")
    }
  }

  func run() throws {
    let settings = try arguments.settings()
    try arguments.reportingProblems {
      let demo = settings.database == nil ? try DemoDatabase() : nil
      defer { demo?.remove() }
      let reports = try QueryReport.all(settings, database: settings.database ?? demo?.path ?? "")
      StandardOutput.write(reports.map(\.text).joined(separator: "\n"))
    }
  }
}
