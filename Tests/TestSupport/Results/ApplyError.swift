package import OrderedResults

/// Why a change set cannot be applied to a result: it was not made from this one.
package enum ApplyError: Error, Equatable {
  /// A record is to be taken out that is not there.
  case noRecord(at: IndexPath)
  /// The record taken out or replaced is not the one that the change names.
  case otherRecord(at: IndexPath)
  /// A section is to be deleted that is not there.
  case noSection(Int)
  /// The section to be deleted has another name or index title.
  case otherSection(Int)
  /// A section is to be deleted that still has records.
  case sectionNotEmpty(Int, numberOfRecords: Int)
  /// A section cannot be put in there.
  case noPlaceForSection(Int)
  /// A record cannot be put in there.
  case noPlace(at: IndexPath)
  /// The changes are not in the order of `protocol.md` §4, or one index path is named twice.
  case outOfOrder(IndexPath)
  /// The sections are not in the order of `protocol.md` §4, or one is named twice.
  case sectionOutOfOrder(Int)
}
