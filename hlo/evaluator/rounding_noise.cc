#include "hlo/evaluator/rounding_noise.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "absl/types/span.h"

#include "base/rng.h"

namespace hone::hlo::evaluator {
namespace {

// Elements worth handing to another thread.
constexpr int64_t kPiece = int64_t{1} << 16;

// The low bits that are zero in an f64 of few digits.
constexpr uint64_t kFewInDouble = 0xffffffff;

// Two bits for element `i`, about random: a finalizer of MurmurHash3 over a
// counter, which loops of vectors can compute.
uint32_t RandomStep(uint32_t seed, uint32_t i) {
  uint32_t h = seed + i * 0x9e3779b9U;
  h ^= h >> 16;
  h *= 0x85ebca6bU;
  h ^= h >> 13;
  h *= 0xc2b2ae35U;
  return h >> 30;
}

// `few` are the low bits that are zero in a number of few digits; the bits of
// `special` are all set in infinities and NaN, and none is in denormals, which
// stay as they are: XLA flushes them.
template <typename Bits>
void Move(absl::Span<Bits> values, Bits few, Bits special, int units,
          uint32_t seed) {
  const auto unit = static_cast<Bits>(units);
  Bits* const bits = values.data();
  const auto size = static_cast<uint32_t>(values.size());
  for (uint32_t i = 0; i < size; ++i) {
    const Bits value = bits[i];
    // Numbers up or down in magnitude, half of them not at all.
    const uint32_t step = RandomStep(seed, i);
    const Bits moved = static_cast<Bits>(step == 0   ? value - unit
                                         : step == 1 ? value + unit
                                                     : value);
    const bool moves = (value & few) != 0 && (value & special) != 0 &&
                       (value & special) != special &&
                       (moved & special) != special;
    bits[i] = moves ? moved : value;
  }
}

// Calls body(numbers, begin, end) over pieces of an array of f64 or c128, not
// for others.
template <typename Body>
void ForEachPiece(Literal& array, ThreadPool* pool, const Body& body) {
  const ElementType type = array.shape().element_type();
  if (type != ElementType::kF64 && type != ElementType::kC128) return;
  const int64_t size = array.byte_size() / static_cast<int64_t>(sizeof(double));
  auto* const numbers = reinterpret_cast<double*>(array.MutableData());
  if (pool == nullptr || size <= kPiece) return body(numbers, 0, size);
  pool->ParallelFor(size, kPiece, [&](int64_t begin, int64_t end) {
    body(numbers, begin, end);
  });
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

bool AccumulatesSmoothly(const Module& module, const Instruction& instruction) {
  if (!Accumulates(module, instruction)) return false;
  if (instruction.called().empty()) return true;
  const Computation& region = module.computation(instruction.called().back());
  const Instruction& root = region[region.root()];
  return root.opcode() == Opcode::kAdd &&
         region[root.operand(0)].opcode() == Opcode::kParameter &&
         region[root.operand(1)].opcode() == Opcode::kParameter;
}

void AddRoundingNoise(Literal& array, int units, uint64_t seed,
                      ThreadPool* pool, Moves moves) {
  if (!array.shape().IsArray() || !array.has_unique_data()) return;
  const auto move = [&]<typename Bits>(int64_t parts, Bits few, Bits special) {
    if (moves == Moves::kAll) few = static_cast<Bits>(~Bits{0});
    const absl::Span<Bits> values(
        reinterpret_cast<Bits*>(array.MutableData()),
        static_cast<size_t>(array.num_elements() * parts));
    const auto pieces =
        (static_cast<int64_t>(values.size()) + kPiece - 1) / kPiece;
    const auto move_pieces = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Rng rng(seed + static_cast<uint64_t>(i));
        Move(values.subspan(static_cast<size_t>(i * kPiece),
                            static_cast<size_t>(kPiece)),
             few, special, units, static_cast<uint32_t>(rng.Next()));
      }
    };
    if (pool == nullptr || pieces <= 1) return move_pieces(0, pieces);
    pool->ParallelFor(pieces, 1, move_pieces);
  };
  switch (array.shape().element_type()) {
    case ElementType::kF32:
      return move(1, uint32_t{0xfff}, uint32_t{0x7f800000});
    case ElementType::kC64:
      return move(2, uint32_t{0xfff}, uint32_t{0x7f800000});
    case ElementType::kF64:
      return move(1, kFewInDouble, uint64_t{0x7ff0000000000000});
    case ElementType::kC128:
      return move(2, kFewInDouble, uint64_t{0x7ff0000000000000});
    case ElementType::kBf16:
      return move(1, uint16_t{0x7}, uint16_t{0x7f80});
    case ElementType::kF16:
      return move(1, uint16_t{0x3f}, uint16_t{0x7c00});
    default:
      return;
  }
}

bool HasFewDigits(const Literal& array) {
  const ElementType type = array.shape().element_type();
  if (type != ElementType::kF64 && type != ElementType::kC128) return false;
  const int64_t size = array.byte_size() / static_cast<int64_t>(sizeof(double));
  const auto* const numbers = reinterpret_cast<const double*>(array.data());
  return std::any_of(numbers, numbers + size, [](double number) {
    return (std::bit_cast<uint64_t>(number) & kFewInDouble) == 0 && number != 0;
  });
}

void EnlargeRounded(Literal& array, ThreadPool* pool) {
  // Products of two such numbers are still finite, as a rule.
  constexpr double kFactor = 0x1p500;
  ForEachPiece(array, pool, [&](double* numbers, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto bits = std::bit_cast<uint64_t>(numbers[i]);
      if ((bits & kFewInDouble) != 0) numbers[i] *= kFactor;
    }
  });
}

void ReplaceDiffering(Literal& array, const Literal& exact,
                      const Literal& other, ThreadPool* pool) {
  const auto* const same = reinterpret_cast<const double*>(exact.data());
  const auto* const from = reinterpret_cast<const double*>(other.data());
  ForEachPiece(array, pool, [&](double* numbers, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      numbers[i] = numbers[i] == same[i] ? numbers[i] : from[i];
    }
  });
}

}  // namespace hone::hlo::evaluator
