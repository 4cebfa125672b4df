#include "hlo/evaluator/rounding_noise.h"

#include <cstdint>
#include <cstring>

#include "absl/types/span.h"

namespace hone::hlo::evaluator {
namespace {

// `few` are the low bits that are zero in a number of few digits; the bits of
// `special` are all set in infinities and NaN, and none is in denormals, which
// have no unit to move by.
template <typename Bits>
void Move(absl::Span<Bits> values, Bits few, Bits special, int units,
          Rng& rng) {
  uint64_t random = 0;
  int left = 0;
  for (Bits& value : values) {
    if (left == 0) {
      random = rng.Next();
      left = 32;
    }
    const auto step = static_cast<Bits>(random & 3);
    random >>= 2;
    --left;
    if (step > 2 || (value & few) == 0 || (value & special) == 0 ||
        (value & special) == special) {
      continue;
    }
    // Numbers up or down in magnitude: by 1, 0 or -1 times `units`.
    const Bits moved =
        static_cast<Bits>(value + (step - 1) * static_cast<Bits>(units));
    if ((moved & special) != special) value = moved;
  }
}

// Returns true if the region that the instruction applies chooses one of its
// parameters.
bool Chooses(const Module& module, const Instruction& instruction) {
  if (instruction.called().empty()) return false;
  const Computation& region = module.computation(instruction.called().back());
  const Opcode root = region[region.root()].opcode();
  return root == Opcode::kMaximum || root == Opcode::kMinimum ||
         root == Opcode::kSelect || root == Opcode::kParameter;
}

}  // namespace

bool IsRounded(const Module& module, const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kAdd:
    case Opcode::kAtan2:
    case Opcode::kBatchNormGrad:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormTraining:
    case Opcode::kCbrt:
    case Opcode::kCholesky:
    case Opcode::kConvert:
    case Opcode::kConvolution:
    case Opcode::kCosine:
    case Opcode::kDivide:
    case Opcode::kDot:
    case Opcode::kErf:
    case Opcode::kExponential:
    case Opcode::kExponentialMinusOne:
    case Opcode::kFft:
    case Opcode::kLog:
    case Opcode::kLogPlusOne:
    case Opcode::kLogistic:
    case Opcode::kMultiply:
    case Opcode::kPower:
    case Opcode::kRsqrt:
    case Opcode::kSine:
    case Opcode::kSqrt:
    case Opcode::kSubtract:
    case Opcode::kTan:
    case Opcode::kTanh:
    case Opcode::kTriangularSolve:
      return true;
    case Opcode::kMap:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kScatter:
    case Opcode::kSelectAndScatter:
      return !Chooses(module, instruction);
    default:
      return false;
  }
}

bool Accumulates(const Module& module, const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kBatchNormGrad:
    case Opcode::kBatchNormTraining:
    case Opcode::kCholesky:
    case Opcode::kConvolution:
    case Opcode::kDot:
    case Opcode::kFft:
    case Opcode::kTriangularSolve:
      return true;
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kScatter:
      return !Chooses(module, instruction);
    default:
      return false;
  }
}

void AddRoundingNoise(Literal& array, int units, Rng& rng) {
  if (!array.shape().IsArray() || !array.has_unique_data()) return;
  const auto numbers = [&]<typename Bits>(Bits, int64_t parts) {
    return absl::Span<Bits>(reinterpret_cast<Bits*>(array.MutableData()),
                            static_cast<size_t>(array.num_elements() * parts));
  };
  switch (array.shape().element_type()) {
    case ElementType::kF32:
      return Move<uint32_t>(numbers(uint32_t{}, 1), 0xfff, 0x7f800000, units,
                            rng);
    case ElementType::kC64:
      return Move<uint32_t>(numbers(uint32_t{}, 2), 0xfff, 0x7f800000, units,
                            rng);
    case ElementType::kF64:
      return Move<uint64_t>(numbers(uint64_t{}, 1), 0xffffffff,
                            0x7ff0000000000000, units, rng);
    case ElementType::kC128:
      return Move<uint64_t>(numbers(uint64_t{}, 2), 0xffffffff,
                            0x7ff0000000000000, units, rng);
    case ElementType::kBf16:
      return Move<uint16_t>(numbers(uint16_t{}, 1), 0x7, 0x7f80, units, rng);
    case ElementType::kF16:
      return Move<uint16_t>(numbers(uint16_t{}, 1), 0x3f, 0x7c00, units, rng);
    default:
      return;
  }
}

Literal WithRoundingNoise(const Literal& array, int units, Rng& rng) {
  const ElementType type = array.shape().element_type();
  if (!array.shape().IsArray() || (!IsFloat(type) && !IsComplex(type))) {
    return array;
  }
  Literal copy(array.shape_ptr());
  std::memcpy(copy.MutableData(), array.data(),
              static_cast<size_t>(array.byte_size()));
  AddRoundingNoise(copy, units, rng);
  return copy;
}

}  // namespace hone::hlo::evaluator
