#include "hlo/rewrite/regions/reductions.h"

#include <limits>

namespace hone::hlo {

std::optional<Opcode> ReductionOpcode(const Computation& region) {
  if (region.parameters().size() != 2 || region.live_count() != 3) {
    return std::nullopt;
  }
  const Instruction& root = region[region.root()];
  switch (root.opcode()) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      break;
    default:
      return std::nullopt;
  }
  if (!root.shape().IsScalar() ||
      region[root.operand(0)].opcode() != Opcode::kParameter ||
      region[root.operand(1)].opcode() != Opcode::kParameter ||
      root.operand(0) == root.operand(1)) {
    return std::nullopt;
  }
  return root.opcode();
}

bool IsReductionIdentity(Opcode opcode, const Literal& value) {
  const ElementType type = value.shape().element_type();
  if (value.is_elided() || IsComplex(type)) return false;
  const bool is_pred = KindOf(type) == ElementKind::kPred;
  const int bits = is_pred ? 1 : BitWidth(type);
  switch (opcode) {
    case Opcode::kAdd:
      return !is_pred && value.AsDouble(0) == 0;
    case Opcode::kMultiply:
      return !is_pred && value.AsDouble(0) == 1;
    case Opcode::kMaximum:
      if (IsFloat(type)) {
        return value.AsDouble(0) == -std::numeric_limits<double>::infinity();
      }
      if (IsSigned(type)) {
        return value.AsInt(0) ==
               std::numeric_limits<int64_t>::min() >> (64 - bits);
      }
      return value.AsInt(0) == 0;
    case Opcode::kMinimum:
      if (IsFloat(type)) {
        return value.AsDouble(0) == std::numeric_limits<double>::infinity();
      }
      if (IsSigned(type)) {
        return value.AsInt(0) ==
               std::numeric_limits<int64_t>::max() >> (64 - bits);
      }
      return static_cast<uint64_t>(value.AsInt(0)) ==
             std::numeric_limits<uint64_t>::max() >> (64 - bits);
    case Opcode::kAnd:
      if (IsSigned(type)) return value.AsInt(0) == -1;
      return static_cast<uint64_t>(value.AsInt(0)) ==
             std::numeric_limits<uint64_t>::max() >> (64 - bits);
    case Opcode::kOr:
    case Opcode::kXor:
      return value.AsInt(0) == 0;
    default:
      return false;
  }
}

}  // namespace hone::hlo
