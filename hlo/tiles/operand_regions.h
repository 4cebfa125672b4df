#ifndef HONE_HLO_TILES_OPERAND_REGIONS_H_
#define HONE_HLO_TILES_OPERAND_REGIONS_H_

#include <cstdint>
#include <vector>

#include "hlo/ir/computation.h"
#include "hlo/tiles/box.h"

namespace hone::hlo {

// Elements of an instruction's array (TiledShape) that are needed.
struct Region {
  Box box;
  // At most so many elements of the box are read, at places that the values
  // say (gather, dynamic-slice); the volume of the box if all of them may be.
  int64_t touched = 0;

  friend bool operator==(const Region&, const Region&) = default;
};

// Returns true if copies of both regions hold the same elements, of which other
// ones may be read.
inline bool HaveSameElements(const Region& a, const Region& b) {
  return a.box == b.box && (a.touched == 0) == (b.touched == 0);
}

// All elements of an instruction's array; of what has none, a scalar.
Region WholeRegion(const Instruction& instruction);

// The registers of a region of an instruction, as computations have it and as
// memory does (RegisterCount); 0 of what is no array or not needed. Of elements
// at unknown places their share of those of the box.
double UnpackedRegisters(const Instruction& instruction, const Region& region);
double PackedRegisters(const Instruction& instruction, const Region& region);

// Returns the groups, of features or of the batch, that some output features of
// a convolution are of; one if it has none.
Interval GroupsOf(const Instruction& convolution, const Interval& features);

// Returns the region of each operand that `result` of the instruction depends
// on: the smallest box for elementwise operations and movements with known
// indices; the bounding box for reshapes; whole dimensions where indices are
// values; all of the operand for everything else, unknown opcodes included.
// `reduced`, if not null, has an interval for each dimension that a hero
// reduces (TiledKernel), whose terms only are wanted.
std::vector<Region> OperandRegions(const Computation& computation,
                                   const Instruction& instruction,
                                   const Region& result,
                                   const Box* reduced = nullptr);

}  // namespace hone::hlo

#endif  // HONE_HLO_TILES_OPERAND_REGIONS_H_
