#ifndef HONE_HLO_TILES_REGISTER_MOVES_H_
#define HONE_HLO_TILES_REGISTER_MOVES_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/types/span.h"

#include "hlo/ir/computation.h"
#include "hlo/ir/id_map.h"
#include "hlo/tiles/operand_regions.h"
#include "hlo/tiles/register_layout.h"

namespace hone::hlo {

// How the values of an operand move inside and between registers
// (register_layout.h) to become those of the result.
enum class RegisterMove {
  // They stay, or whole registers or dimensions other than the two minor ones
  // move.
  kNone,
  // One element fills all lanes.
  kFillLanes,
  // One row fills all sublanes.
  kFillSublanes,
  // Other elements run along lanes.
  kChangeLanes,
  // The same elements run along lanes, other rows along sublanes.
  kChangeSublanes,
};

// Returns the move of an operand of a broadcast, a transpose, a reshape or an
// elementwise instruction, by dimensions and layouts; kNone of others.
RegisterMove MoveOf(const Computation& computation,
                    const Instruction& instruction, size_t operand);

// Returns true if values that move by `offset` elements along dimension `d`
// move by whole registers.
bool IsAligned(const RegisterDimensions& dimensions, int64_t d, int64_t offset);

// Returns the registers, unpacked, that are left of a box that is reduced along
// `reduced` once its registers have been combined with each other: what is to
// be reduced inside of them.
int64_t CombinedRegisters(const Shape& shape, Box box,
                          absl::Span<const int64_t> reduced);

// Slices at places that indices say: `count` of the array of `array`.
struct IndexedSlices {
  InstructionId array = kNoInstruction;
  double count = 1;
};
// Returns the slices that a tile takes of a gather's result or of a scatter's
// updates; nothing of other instructions.
std::optional<IndexedSlices> IndexedSlicesOf(const Computation& computation,
                                             const Instruction& instruction,
                                             const IdMap<Region>& regions);

}  // namespace hone::hlo

#endif  // HONE_HLO_TILES_REGISTER_MOVES_H_
