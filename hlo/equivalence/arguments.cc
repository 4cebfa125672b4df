#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

#include "base/rng.h"
#include "base/status_macros.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/equivalence/internal.h"

namespace hone::hlo {
namespace {

// Standard deviation of random floats.
constexpr double kScale = 0.1;
// Likewise of mixed magnitudes: products of a few stay in the range of f32.
constexpr std::array<double, 5> kMixedScales = {1e-9, 1e-3, 0.1, 1, 1e4};
// Random integers are below this: valid indices nearly everywhere. Half of
// those in arrays may be as large as what is indexed.
constexpr uint64_t kIntegerBound = 8;
// Likewise where nothing is indexed.
constexpr int64_t kDefaultIndexBound = 1024;
// Magnitude of extreme scalars: two of them overflow, or underflow, together.
constexpr double kExtreme = 0x1p100;
constexpr double kDoubleExtreme = 0x1p600;
constexpr double kNarrowExtreme = 0x1p12;
// Elements of one argument that become special. More would turn whole results
// into NaN, which equal each other and show nothing.
constexpr uint64_t kMaxSpecials = 4;

// Approximately standard normal: the sum of four uniforms (Irwin-Hall), one
// draw per value, since arguments have up to hundreds of millions of elements.
double FastNormal(Rng& rng) {
  const uint64_t bits = rng.Next();
  const uint64_t sum = (bits & 0xffff) + ((bits >> 16) & 0xffff) +
                       ((bits >> 32) & 0xffff) + (bits >> 48);
  // Mean 4·65535/2, variance 4·65536²/12.
  return (static_cast<double>(sum) - 131070.0) / 37837.22;
}

// An array, or a tuple of such.
bool HasOnlyArrays(const Shape& shape) {
  if (!shape.IsTuple()) return shape.IsArray();
  return absl::c_all_of(shape.tuple_elements(), [](const ShapePtr& element) {
    return HasOnlyArrays(*element);
  });
}

// Elements that one generator makes: the pieces of a large array have their
// own, so that they can be made at once.
constexpr int64_t kPiece = int64_t{1} << 18;

// Fills floats with random ones of that standard deviation.
void FillFloats(absl::Span<float> values, double scale, Rng& rng,
                ThreadPool* pool) {
  const auto fill = [scale](absl::Span<float> piece, Rng& generator) {
    for (float& x : piece)
      x = static_cast<float>(scale * FastNormal(generator));
  };
  const auto size = static_cast<int64_t>(values.size());
  if (size <= kPiece) return fill(values, rng);
  const uint64_t seed = rng.Next();
  const auto fill_pieces = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Rng generator(seed + static_cast<uint64_t>(i));
      fill(values.subspan(static_cast<size_t>(i * kPiece),
                          static_cast<size_t>(kPiece)),
           generator);
    }
  };
  const int64_t pieces = (size + kPiece - 1) / kPiece;
  if (pool == nullptr) return fill_pieces(0, pieces);
  pool->ParallelFor(pieces, 1, fill_pieces);
}

// The least of the sizes, from kIntegerBound on, that integer arrays index:
// what lies beyond may be NaN by the program's intent.
uint64_t IndexBound(const Module& module) {
  int64_t least = std::numeric_limits<int64_t>::max();
  const auto add = [&](const Shape& shape, const DimensionVector& dimensions) {
    for (int64_t d : dimensions) {
      const int64_t size = shape.dimensions()[static_cast<size_t>(d)];
      if (size >= static_cast<int64_t>(kIntegerBound)) {
        least = std::min(least, size);
      }
    }
  };
  for (const Computation& computation : module.computations()) {
    for (const Instruction& instruction : computation.instructions()) {
      const Attributes& attributes = instruction.attributes();
      if (instruction.opcode() == Opcode::kGather) {
        add(computation[instruction.operand(0)].shape(),
            attributes.gather->start_index_map);
      } else if (instruction.opcode() == Opcode::kScatter) {
        add(computation[instruction.operand(0)].shape(),
            attributes.scatter->scatter_dims_to_operand_dims);
      }
    }
  }
  return static_cast<uint64_t>(
      least < std::numeric_limits<int64_t>::max() ? least : kDefaultIndexBound);
}

// Errors: ResourceExhausted for more than an evaluation may hold.
absl::Status CheckSize(const Computation& entry) {
  const int64_t limit = EvaluateOptions().max_live_bytes;
  int64_t bytes = 0;
  for (InstructionId parameter : entry.parameters()) {
    bytes += std::min(entry[parameter].shape().byte_size(), limit);
    if (bytes < limit) continue;
    return absl::ResourceExhaustedError(absl::StrCat(
        "the arguments take over ", limit, " bytes (up to parameter ",
        entry[parameter].name(), "), expected less"));
  }
  return absl::OkStatus();
}

// `scale` is the standard deviation of floats; half of the integers in arrays
// are below `index_bound`.
Literal RandomLiteral(const ShapePtr& shape, double scale, uint64_t index_bound,
                      Rng& rng, ThreadPool* pool,
                      evaluator::BufferPool* buffers) {
  if (shape->IsTuple()) {
    std::vector<Literal> elements;
    for (const ShapePtr& element : shape->tuple_elements()) {
      elements.push_back(
          RandomLiteral(element, scale, index_bound, rng, pool, buffers));
    }
    return Literal::Tuple(std::move(elements));
  }
  std::shared_ptr<std::byte[]> data =
      buffers == nullptr ? nullptr : buffers->Allocate(shape->byte_size());
  Literal literal =
      data == nullptr ? Literal(shape) : Literal(shape, std::move(data));
  const ElementType type = shape->element_type();
  const int64_t n = literal.num_elements();
  if (type == ElementType::kF32) {
    FillFloats(literal.mutable_values<float>(), scale, rng, pool);
  } else if (IsFloat(type)) {
    for (int64_t i = 0; i < n; ++i) {
      literal.SetDouble(i, scale * FastNormal(rng));
    }
  } else if (type == ElementType::kC64) {
    auto* x = reinterpret_cast<float*>(literal.MutableData());
    for (int64_t i = 0; i < 2 * n; ++i) {
      x[i] = static_cast<float>(scale * FastNormal(rng));
    }
  } else if (type == ElementType::kC128) {
    auto* x = reinterpret_cast<double*>(literal.MutableData());
    for (int64_t i = 0; i < 2 * n; ++i) x[i] = scale * FastNormal(rng);
  } else {
    const uint64_t bound = type == ElementType::kPred ? 2 : kIntegerBound;
    const bool indexes = n > 1 && IsIntegral(type) && BitWidth(type) >= 16;
    for (int64_t i = 0; i < n; ++i) {
      const bool is_large = indexes && rng.Below(2) == 0;
      literal.SetInt(
          i, static_cast<int64_t>(rng.Below(is_large ? index_bound : bound)));
    }
  }
  return literal;
}

// Special values, the finite ones first. Large ones leave room for sums of
// squares in every type but the narrowest.
constexpr std::array<double, 11> kSpecials = {
    0.0,
    -0.0,
    1e-40,
    -1e-40,
    0x1p-126,
    100.0,
    -100,
    1.0e4,
    std::numeric_limits<double>::quiet_NaN(),
    std::numeric_limits<double>::infinity(),
    -std::numeric_limits<double>::infinity()};
constexpr uint64_t kFiniteSpecials = 8;
constexpr std::array<int64_t, 4> kSpecialIntegers = {
    -1, 1000003, std::numeric_limits<int32_t>::max(),
    std::numeric_limits<int32_t>::min()};

// Makes some elements of an array special.
void Spice(Literal& literal, bool non_finite, Rng& rng) {
  const ElementType type = literal.shape().element_type();
  const uint64_t n = static_cast<uint64_t>(literal.num_elements());
  const bool is_float = IsFloat(type);
  // Integer scalars count loop iterations and steps: they stay small.
  if (n == 0 || (!is_float && (!IsIntegral(type) || n == 1))) return;
  const uint64_t count = std::clamp<uint64_t>(n / 16, 1, kMaxSpecials);
  for (uint64_t k = 0; k < count; ++k) {
    const int64_t at = static_cast<int64_t>(rng.Below(n));
    if (is_float) {
      literal.SetDouble(
          at, kSpecials[rng.Below(non_finite && k == 0 ? kSpecials.size()
                                                       : kFiniteSpecials)]);
    } else {
      literal.SetInt(at, kSpecialIntegers[rng.Below(kSpecialIntegers.size())]);
    }
  }
}

// Elements at `first`, `first` + `step`, …, `count` of them.
struct Line {
  int64_t first = 0;
  int64_t step = 1;
  int64_t count = 0;
};

// Returns a random line of an array along dimension `d`.
Line LineAlong(const Shape& shape, size_t d, Rng& rng) {
  Line line = {.count = shape.dimensions()[d]};
  int64_t stride = 1;
  for (size_t i = shape.dimensions().size(); i-- > 0;) {
    const int64_t size = shape.dimensions()[i];
    if (i == d) {
      line.step = stride;
    } else {
      line.first +=
          stride * static_cast<int64_t>(rng.Below(static_cast<uint64_t>(size)));
    }
    stride *= size;
  }
  return line;
}

// Repeats the maximum of a line in another element of it, if it is finite.
void RepeatMaximum(Literal& literal, const Line& line, Rng& rng) {
  const auto at = [&](int64_t i) { return line.first + i * line.step; };
  int64_t largest = 0;
  for (int64_t i = 1; i < line.count; ++i) {
    if (literal.AsDouble(at(i)) > literal.AsDouble(at(largest))) largest = i;
  }
  if (!std::isfinite(literal.AsDouble(at(largest)))) return;
  const auto other =
      static_cast<int64_t>(rng.Below(static_cast<uint64_t>(line.count - 1)));
  literal.SetDouble(at(other + (other >= largest ? 1 : 0)),
                    literal.AsDouble(at(largest)));
}

// Sets a line along each dimension to zero, and a part that has one index in
// one dimension. Zeros, since then sums, and what elementwise operations make
// of them, are exact in every order: a variance is zero for one program if it
// is for the other.
void MakeZeros(Literal& literal, Rng& rng) {
  const Shape& shape = literal.shape();
  // Parts of fewer elements would be mostly zero.
  constexpr int64_t kParts = 4;
  const int64_t n = literal.num_elements();
  const auto set_zero = [&](const Line& line) {
    for (int64_t i = 0; i < line.count; ++i) {
      literal.SetDouble(line.first + i * line.step, 0);
    }
  };
  for (size_t d = 0; d < shape.dimensions().size(); ++d) {
    const Line line = LineAlong(shape, d, rng);
    if (line.count > 1 && n >= kParts * line.count) set_zero(line);
  }
  const size_t d = rng.Below(shape.dimensions().size());
  const Line line = LineAlong(shape, d, rng);
  const int64_t step = line.step;
  const int64_t size = line.count;
  if (size < kParts || size == n) return;
  const auto index =
      static_cast<int64_t>(rng.Below(static_cast<uint64_t>(size)));
  for (int64_t i = 0; i < n / (size * step); ++i) {
    set_zero({.first = (i * size + index) * step, .step = 1, .count = step});
  }
}

// Makes elements of an array of floats equal: zeros, and in a line along each
// dimension the maximum twice.
void MakeEqual(Literal& literal, Rng& rng) {
  const Shape& shape = literal.shape();
  constexpr int64_t kFewest = 16;
  if (!IsFloat(shape.element_type()) || literal.num_elements() < kFewest) {
    return;
  }
  MakeZeros(literal, rng);
  for (size_t d = 0; d < shape.dimensions().size(); ++d) {
    const Line line = LineAlong(shape, d, rng);
    if (line.count > 1) RepeatMaximum(literal, line, rng);
  }
}

double ExtremeOf(ElementType type) {
  if (type == ElementType::kF64) return kDoubleExtreme;
  return type == ElementType::kF32 || type == ElementType::kBf16
             ? kExtreme
             : kNarrowExtreme;
}

// Moves a scalar to the large or the small end of the range and an array to the
// other, so that one product of them has ordinary magnitude.
void MakeExtreme(Literal& literal, bool is_large) {
  const Shape& shape = literal.shape();
  if (!IsFloat(shape.element_type())) return;
  const bool is_scalar = shape.num_elements() == 1;
  const double range = ExtremeOf(shape.element_type());
  const double scale = is_scalar == is_large ? range : 1 / range;
  int64_t i = 0;
  ReplaceFloats(literal, [&](double x) {
    if (is_scalar) return scale * (1 + std::fabs(x));
    return i++ % 8 == 0 ? 0 : scale * x;
  });
}

}  // namespace

absl::StatusOr<std::vector<Literal>> Arguments(const Module& module,
                                               ArgumentKind kind, bool special,
                                               uint64_t seed, ThreadPool* pool,
                                               evaluator::BufferPool* buffers) {
  const Computation& entry = module.entry_computation();
  HONE_RETURN_IF_ERROR(CheckSize(entry));
  const uint64_t index_bound = IndexBound(module);
  Rng rng(seed);
  std::vector<Literal> arguments;
  for (InstructionId parameter : entry.parameters()) {
    Rng values = rng.Split();
    Rng specials = rng.Split();
    const ShapePtr& shape = entry[parameter].shape_ptr();
    if (!HasOnlyArrays(*shape)) {
      return absl::UnimplementedError(absl::StrCat(
          entry[parameter].name(), ": no argument of shape ", shape->ToString(),
          " can be made, expected an array or a tuple of arrays"));
    }
    const double scale = kind == ArgumentKind::kMixed
                             ? kMixedScales[specials.Below(kMixedScales.size())]
                             : kScale;
    arguments.push_back(
        RandomLiteral(shape, scale, index_bound, values, pool, buffers));
    ForEachArray(arguments.back(), [&](Literal& array) {
      if (kind == ArgumentKind::kExtreme) MakeExtreme(array, special);
      if (kind == ArgumentKind::kAdversarial && specials.Below(2) == 0) {
        Spice(array, special && specials.Below(2) == 0, specials);
      }
      if (kind == ArgumentKind::kAdversarial) {
        Rng places = specials.Split();
        MakeEqual(array, places);
      }
    });
  }
  return arguments;
}

absl::StatusOr<std::vector<Literal>> RandomArguments(const Module& module,
                                                     uint64_t seed) {
  return MakeArguments(module, ArgumentKind::kRandom, seed);
}

absl::StatusOr<std::vector<Literal>> MakeArguments(const Module& module,
                                                   ArgumentKind kind,
                                                   uint64_t seed) {
  return Arguments(module, kind, true, seed, nullptr, nullptr);
}

void MakeNonNegative(Literal& argument) {
  ForEachArray(argument, [](Literal& array) {
    ReplaceFloats(array, [](double x) { return std::fabs(x); });
  });
}

}  // namespace hone::hlo
