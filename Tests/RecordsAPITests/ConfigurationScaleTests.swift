import TestSupport
import Testing

@testable import RecordsAPI

/// A script wrote it, and made the same slip everywhere.
@Suite struct `A configuration with a slip in each of many queries` {
  private func secondsToPlace(_ count: Int) throws -> Double {
    let queries = (0..<count).map { "  q\($0):\n    sql: SELECT nmae FROM player\n" }.joined()
    let configuration = try Configuration.parse("queries:\n" + queries, file: "c")
    return processorSeconds {
      for index in 0..<count {
        let problem = configuration.problem(in: "q\(index)", .word(.sql), near: "nmae", "no")
        #expect(problem.position == TextPosition(line: 3 + 2 * index, column: 17))
      }
    }
  }

  @Test func `is told in a time that grows as its queries`() throws {
    let small = try secondsToPlace(250)
    let large = try secondsToPlace(4000)
    // Sixteen times as many: 16 where each costs the same, 256 where each looks at all.
    #expect(large < 64 * small, "\(small) s and \(large) s")
  }

  @Test func `is told in a hundred lines`() {
    func lines(_ count: Int) -> [Substring] {
      let problems = (1...count).map {
        ConfigurationProblem(
          file: "c", position: TextPosition(line: $0, column: 1), message: "slip")
      }
      return ConfigurationProblems(problems).description.split(separator: "\n")
    }
    #expect(lines(100).count == 100)
    #expect(lines(100).last == "c:100:1: slip")
    #expect(lines(101).last == "… and 1 more problem")
    #expect(lines(50_000).count == 101)
    #expect(lines(50_000).last == "… and 49900 more problems")
  }

  @Test(arguments: [1, 40])
  func `is not read again for each name that is there twice`(times: Int) throws {
    let names = (0..<1000).flatMap { name in Array(repeating: "q\(name % 100)", count: times) }
    let text = "queries:\n" + names.map { "  \($0): {table: player}\n" }.joined()
    let found = problems(text)
    #expect(found.count == 1)
    #expect(found.first?.hasSuffix("are there twice, such as \"q0\"; keep one of each") == true)
  }
}
