#include "hlo/equivalence/stress.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "absl/strings/str_cat.h"

#include "hlo/equivalence/internal.h"
#include "hlo/equivalence/literal_scan.h"

namespace hone::hlo {
namespace {

// Elements that all computations together may compute for all stresses.
constexpr int64_t kWork = int64_t{1} << 23;
constexpr size_t kMaxStresses = 32;
// In deeper modules special values are lost in what they do to each other: the
// rounding of one folded constant can change every digit of a result.
constexpr int64_t kMaxInstructions = 500;
constexpr size_t kMaxConstants = 64;
constexpr double kLargeScale = 1000;
constexpr double kFarBelow = 1e4;
// One element in so many is special.
constexpr uint64_t kSpecialShare = 2;

constexpr std::array<double, 9> kSpecials = {0.0,  -0.0,  1e-10,  -1e-10, 1.0,
                                             -1.0, 100.0, -100.0, 1e4};
constexpr std::array<double, 3> kNonFinites = {
    std::numeric_limits<double>::quiet_NaN(),
    std::numeric_limits<double>::infinity(),
    -std::numeric_limits<double>::infinity()};

// Returns true if there are elements and all are the same.
bool IsSplat(const Literal& array) {
  const auto width =
      static_cast<size_t>(ByteWidth(array.shape().element_type()));
  const auto bytes = static_cast<size_t>(array.byte_size());
  return bytes > 0 &&
         std::memcmp(array.data(), array.data() + width, bytes - width) == 0;
}

// A constant or a neighbour of it.
double NearConstant(absl::Span<const double> constants, bool is_integer,
                    Rng& rng) {
  const double value = constants[rng.Below(constants.size())];
  const double step = is_integer ? 1 : std::fabs(value) * 0x1p-7;
  return value + step * (static_cast<double>(rng.Below(3)) - 1);
}

// Random bits, or an end of the range of signed or of unsigned integers.
int64_t SpecialInteger(ElementType type, Rng& rng) {
  const uint64_t sign = uint64_t{1} << (BitWidth(type) - 1);
  switch (rng.Below(8)) {
    case 0:
      return static_cast<int64_t>(sign);
    case 1:
      return static_cast<int64_t>(sign - 1);
    case 2:
      return -1;
    default:
      return static_cast<int64_t>(rng.Next());
  }
}

// Makes a quarter of the rows all false and a quarter all true: a mask of
// random bits leaves out neither everything nor nothing.
void MakeRowsUniform(Rng& rng, Literal& array) {
  const DimensionVector& sizes = array.shape().dimensions();
  const int64_t row = sizes.empty() ? 1 : std::max<int64_t>(sizes.back(), 1);
  for (int64_t begin = 0; begin < array.num_elements(); begin += row) {
    const uint64_t kind = rng.Below(4);
    if (kind > 1) continue;
    for (int64_t i = begin; i < begin + row; ++i) {
      array.SetInt(i, static_cast<int64_t>(kind));
    }
  }
}

// Replaces integers and predicates, but for scalars.
template <typename Replace>
void ReplaceIntegers(Literal& array, const Replace& replace) {
  const ElementType type = array.shape().element_type();
  const int64_t n = array.num_elements();
  if (n == 1 || (!IsIntegral(type) && type != ElementType::kPred)) return;
  for (int64_t i = 0; i < n; ++i) array.SetInt(i, replace(array.AsInt(i)));
}

// The largest integer of the type, of which SetInt keeps the low bits.
int64_t LargestOf(ElementType type) {
  if (!IsSigned(type)) return -1;
  return std::numeric_limits<int64_t>::max() >> (64 - BitWidth(type));
}

void MakeSpecial(absl::Span<const double> constants, Rng& rng, Literal& array) {
  const ElementType type = array.shape().element_type();
  const int64_t n = array.num_elements();
  const bool is_float = IsFloat(type);
  if (type == ElementType::kPred && n > 1) return MakeRowsUniform(rng, array);
  if (!is_float && (!IsIntegral(type) || n == 1)) return;
  for (int64_t i = 0; i < n; ++i) {
    if (rng.Below(kSpecialShare) != 0) continue;
    const bool is_constant = !constants.empty() && rng.Below(2) == 0;
    if (is_float) {
      array.SetDouble(i, is_constant ? NearConstant(constants, false, rng)
                                     : kSpecials[rng.Below(kSpecials.size())]);
    } else if (is_constant) {
      array.SetInt(
          i, static_cast<int64_t>(std::clamp(NearConstant(constants, true, rng),
                                             -0x1p53, 0x1p53)));
    } else {
      // The array keeps the low bits.
      array.SetInt(i, SpecialInteger(type, rng));
    }
  }
}

void MakeNonFinite(Rng& rng, Literal& array) {
  const int64_t n = array.num_elements();
  if (n == 0 || !IsFloat(array.shape().element_type())) return;
  for (double value : kNonFinites) {
    array.SetDouble(static_cast<int64_t>(rng.Below(static_cast<uint64_t>(n))),
                    value);
  }
}

void ApplyToArray(Stress::Kind kind, absl::Span<const double> constants,
                  Rng& rng, Literal& array) {
  const ElementType type = array.shape().element_type();
  switch (kind) {
    case Stress::Kind::kSpecials:
      return MakeSpecial(constants, rng, array);
    case Stress::Kind::kLarge:
      ReplaceFloats(array, [](double x) { return kLargeScale * x; });
      return ReplaceIntegers(array, [type](int64_t x) {
        return type == ElementType::kPred ? 1 : LargestOf(type) - x;
      });
    case Stress::Kind::kNegative:
      ReplaceFloats(array,
                    [](double x) { return -kFarBelow * (1 + std::fabs(x)); });
      return ReplaceIntegers(array, [type](int64_t x) {
        return IsSigned(type) ? -LargestOf(type) + x : x;
      });
    case Stress::Kind::kHalves:
      return ReplaceFloats(array,
                           [](double x) { return std::floor(40 * x) + 0.5; });
    case Stress::Kind::kZero:
      ReplaceFloats(array, [](double) { return 0.0; });
      return ReplaceIntegers(array, [](int64_t) { return 0; });
    case Stress::Kind::kNonFinite:
      return MakeNonFinite(rng, array);
  }
}

}  // namespace

std::string Stress::Describe() const {
  switch (kind) {
    case Kind::kSpecials:
      return "of special values";
    case Kind::kLarge:
      return "of large values";
    case Kind::kNegative:
      return "of negative values";
    case Kind::kHalves:
      return "of halves";
    case Kind::kZero:
      return "of zeros";
    case Kind::kNonFinite:
      return absl::StrCat("with infinities and NaN in parameter ", argument);
  }
  return "";
}

std::vector<Stress> StressesFor(const Module& module) {
  if (module.instruction_count() > kMaxInstructions) return {};
  int64_t work = 1;
  bool sums_products = false;
  for (const Computation& computation : module.computations()) {
    for (const Instruction& instruction : computation.instructions()) {
      sums_products |= instruction.opcode() == Opcode::kDot ||
                       instruction.opcode() == Opcode::kConvolution;
      if (instruction.shape().IsArray()) {
        work += instruction.shape().num_elements();
      }
    }
  }
  const Computation& entry = module.entry_computation();
  std::vector<Stress> stresses = {
      {Stress::Kind::kSpecials}, {Stress::Kind::kLarge},
      {Stress::Kind::kNegative}, {Stress::Kind::kHalves},
      {Stress::Kind::kZero},     {Stress::Kind::kSpecials},
      {Stress::Kind::kSpecials},
  };
  for (size_t i = 0; i < entry.parameters().size() && !sums_products; ++i) {
    if (FloatsOf(entry[entry.parameters()[i]].shape()) == 0) continue;
    stresses.push_back({Stress::Kind::kNonFinite, i});
  }
  const auto most = static_cast<size_t>(
      std::clamp<int64_t>(kWork / work, 1, static_cast<int64_t>(kMaxStresses)));
  if (stresses.size() > most) stresses.resize(most);
  return stresses;
}

std::vector<double> ScalarConstants(const Module& module) {
  std::set<double> constants;
  for (const Computation& computation : module.computations()) {
    for (const Instruction& instruction : computation.instructions()) {
      if (instruction.opcode() != Opcode::kConstant ||
          !instruction.shape().IsArray() ||
          IsComplex(instruction.shape().element_type()) ||
          instruction.literal()->is_elided() ||
          !IsSplat(*instruction.literal())) {
        continue;
      }
      const double value = instruction.literal()->AsDouble(0);
      if (std::isfinite(value) && constants.size() < kMaxConstants) {
        constants.insert(value);
      }
    }
  }
  return {constants.begin(), constants.end()};
}

void Apply(const Stress& stress, absl::Span<const double> constants, Rng& rng,
           std::vector<Literal>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (stress.kind == Stress::Kind::kNonFinite && i != stress.argument) {
      continue;
    }
    ForEachArray(arguments[i], [&](Literal& array) {
      ApplyToArray(stress.kind, constants, rng, array);
    });
  }
}

}  // namespace hone::hlo
