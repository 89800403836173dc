import OrderedResults
import SeededRandom
import Testing

@testable import RecordsAPI

@Suite struct `Resting windows` {
  private final class Owner {}

  @Test func `are found by what changes in them, and no others`() {
    var random = SeededGenerator(seed: 1)
    let owners = (0..<200).map { _ in Owner() }
    let windows = owners.map { _ in
      (0..<Int.random(in: 1...3, using: &random)).map { _ in window(&random) }
    }
    for _ in 0..<300 {
      var resting = RestingWindows<Int>()
      let present = owners.indices.filter { _ in Bool.random(using: &random) }
      for index in present { resting.add(ObjectIdentifier(owners[index]), index, windows[index]) }
      let reach = reach(&random)
      let touched = resting.take(touchedBy: reach).map(\.listener).sorted()
      let expected = present.filter { index in
        windows[index].contains { window in
          window.overlaps(reach.shifted) || reach.updated.contains(where: window.contains)
        }
      }
      #expect(touched == expected, "\(reach)")
      for index in present {
        let isThere = resting.contains(ObjectIdentifier(owners[index]))
        #expect(isThere == !expected.contains(index))
      }
      #expect(resting.takeAll().count == present.count - touched.count)
      #expect(resting.take(touchedBy: ChangeReach(shifted: 0..<Int.max)).isEmpty)
    }
  }

  @Test func `of one record are found where everything is shifted`() {
    var resting = RestingWindows<Int>()
    let owner = Owner()
    resting.add(ObjectIdentifier(owner), 1, [5..<6])
    #expect(resting.take(touchedBy: ChangeReach(shifted: 0..<Int.max)).map(\.listener) == [1])
  }

  @Test func `are gone when they are removed`() {
    var resting = RestingWindows<Int>()
    let (one, other) = (Owner(), Owner())
    resting.add(ObjectIdentifier(one), 1, [0..<10])
    resting.add(ObjectIdentifier(other), 2, [0..<10])
    #expect(resting.remove(ObjectIdentifier(one)) == 1)
    #expect(resting.remove(ObjectIdentifier(one)) == nil)
    let reach = ChangeReach(shifted: 0..<0, updated: [9])
    #expect(resting.take(touchedBy: reach).map(\.listener) == [2])
    #expect(resting.take(touchedBy: reach).isEmpty)
  }

  private func window(_ random: inout SeededGenerator) -> Range<Int> {
    let start = Int.random(in: 0...300, using: &random)
    switch Int.random(in: 0...9, using: &random) {
    case 0: return start..<Int.max
    case 1: return Int.max..<Int.max
    default: return start..<start + Int.random(in: 1...40, using: &random)
    }
  }

  private func reach(_ random: inout SeededGenerator) -> ChangeReach {
    let updated = (0..<Int.random(in: 0...3, using: &random)).map { _ in
      Int.random(in: 0...320, using: &random)
    }
    let start = Int.random(in: 0...320, using: &random)
    let end = [start, start + 1, start + 30, Int.max].randomElement(using: &random) ?? start
    return ChangeReach(shifted: start..<end, updated: updated)
  }
}
