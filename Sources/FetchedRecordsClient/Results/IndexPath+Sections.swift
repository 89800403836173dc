// UIKit and AppKit bring these; elsewhere Foundation's index paths are numbers without names.
// Disfavoured, for a program may import FetchedRecords too, which has the same.
#if !canImport(UIKit) && !canImport(AppKit)
  public import Foundation

  extension IndexPath {
    /// The first number: which section.
    @_disfavoredOverload
    public var section: Int { self[0] }

    /// The second number: which place in the section.
    @_disfavoredOverload
    public var item: Int { self[1] }

    /// The place `item` in the section `section`, both counted from 0.
    @_disfavoredOverload
    public init(item: Int, section: Int) { self.init(indexes: [section, item]) }
  }
#endif
