#include "hlo/tiles/register_moves.h"

#include <algorithm>

#include "absl/algorithm/container.h"

#include "hlo/tiles/tiled_kernel.h"

namespace hone::hlo {
namespace {

size_t Index(int64_t i) { return static_cast<size_t>(i); }

RegisterMove MoveOfBroadcast(const RegisterDimensions& from,
                             const RegisterDimensions& to,
                             const DimensionVector& dimensions) {
  if (!absl::c_linear_search(dimensions, to.lane)) {
    return RegisterMove::kFillLanes;
  }
  if (dimensions[Index(from.lane)] != to.lane) {
    return RegisterMove::kChangeLanes;
  }
  return to.sublane >= 0 && !absl::c_linear_search(dimensions, to.sublane)
             ? RegisterMove::kFillSublanes
             : RegisterMove::kNone;
}

RegisterMove MoveOfTranspose(const RegisterDimensions& from,
                             const RegisterDimensions& to,
                             const DimensionVector& dimensions) {
  if (dimensions[Index(to.lane)] != from.lane) {
    return RegisterMove::kChangeLanes;
  }
  return to.sublane >= 0 && dimensions[Index(to.sublane)] != from.sublane
             ? RegisterMove::kChangeSublanes
             : RegisterMove::kNone;
}

RegisterMove MoveOfReshape(const Shape& from, const Shape& to) {
  const RegisterDimensions a = RegisterDimensionsOf(from);
  const RegisterDimensions b = RegisterDimensionsOf(to);
  if (from.dimension(a.lane) != to.dimension(b.lane) ||
      (from.rank() == 1) != (to.rank() == 1)) {
    return RegisterMove::kChangeLanes;
  }
  const int64_t rows = a.sublane < 0 ? 1 : from.dimension(a.sublane);
  const int64_t new_rows = b.sublane < 0 ? 1 : to.dimension(b.sublane);
  return rows != new_rows &&
                 (rows % kSublanes != 0 || new_rows % kSublanes != 0)
             ? RegisterMove::kChangeSublanes
             : RegisterMove::kNone;
}

}  // namespace

RegisterMove MoveOf(const Computation& computation,
                    const Instruction& instruction, size_t operand) {
  const Shape* const from =
      TiledShape(computation[instruction.operand(operand)]);
  const Shape* const to = TiledShape(instruction);
  if (from == nullptr || to == nullptr || from->rank() == 0 ||
      to->rank() == 0) {
    return RegisterMove::kNone;
  }
  const RegisterDimensions own = RegisterDimensionsOf(*from);
  const RegisterDimensions next = RegisterDimensionsOf(*to);
  switch (instruction.opcode()) {
    case Opcode::kBroadcast:
      return MoveOfBroadcast(own, next, instruction.dimensions());
    case Opcode::kTranspose:
      return MoveOfTranspose(own, next, instruction.dimensions());
    case Opcode::kReshape:
      return MoveOfReshape(*from, *to);
    default:
      return IsElementwise(instruction.opcode()) && own.lane != next.lane
                 ? RegisterMove::kChangeLanes
                 : RegisterMove::kNone;
  }
}

bool IsAligned(const RegisterDimensions& dimensions, int64_t d,
               int64_t offset) {
  if (d == dimensions.lane) return offset % kLanes == 0;
  return d != dimensions.sublane || offset % kSublanes == 0;
}

int64_t CombinedRegisters(const Shape& shape, Box box,
                          absl::Span<const int64_t> reduced) {
  for (const int64_t d : reduced) {
    box[Index(d)].size = std::min<int64_t>(box[Index(d)].size, 1);
  }
  return RegisterCount(shape, box, /*packed=*/false);
}

std::optional<IndexedSlices> IndexedSlicesOf(const Computation& computation,
                                             const Instruction& instruction,
                                             const IdMap<Region>& regions) {
  IndexedSlices slices;
  // The dimensions along a slice.
  const DimensionVector* window = nullptr;
  if (instruction.opcode() == Opcode::kGather &&
      instruction.attributes().gather != nullptr) {
    slices.array = instruction.id();
    window = &instruction.attributes().gather->offset_dims;
  } else if (instruction.opcode() == Opcode::kScatter &&
             instruction.attributes().scatter != nullptr &&
             instruction.operand_count() >= 3) {
    slices.array = instruction.operand(2 * (instruction.operand_count() / 3));
    window = &instruction.attributes().scatter->update_window_dims;
  }
  if (window == nullptr) return std::nullopt;
  const Shape* const shape = TiledShape(computation[slices.array]);
  if (shape == nullptr) return std::nullopt;
  for (int64_t d = 0; d < shape->rank(); ++d) {
    if (absl::c_linear_search(*window, d)) continue;
    slices.count *=
        static_cast<double>(regions.at(slices.array).box[Index(d)].size);
  }
  return slices;
}

}  // namespace hone::hlo
