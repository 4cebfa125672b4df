#include "hlo/equivalence/promises.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "hlo/equivalence/call_counts.h"

namespace hone::hlo {
namespace {

// The precisions of an operand, lowest first.
constexpr absl::string_view kPrecisions[] = {"default", "high", "highest"};
constexpr size_t kHighest = std::size(kPrecisions) - 1;

// The promises of a module.
struct Promises {
  // Index into kPrecisions.
  size_t lowest_precision = kHighest;
  // The algorithms of dots and convolutions; "none" of those without one.
  std::set<std::string> algorithms;
  double sorted_claims = 0;
  double unique_claims = 0;
  double unstable_sorts = 0;
};

bool IsContraction(Opcode opcode) {
  return opcode == Opcode::kDot || opcode == Opcode::kConvolution ||
         opcode == Opcode::kRaggedDot || opcode == Opcode::kScaledDot;
}

// Returns true for types of which backends may leave out digits in a product.
bool HasDigitsToLose(const Shape& shape) {
  const ElementType type = shape.element_type();
  return IsComplex(type) || (IsFloat(type) && BitWidth(type) >= 32);
}

// Index into kPrecisions of the lower operand's precision.
size_t LowestPrecision(const Instruction& contraction) {
  const std::string* text =
      contraction.attributes().FindOther("operand_precision");
  if (text == nullptr) return 0;
  size_t lowest = kHighest;
  for (absl::string_view part :
       absl::StrSplit(*text, absl::ByAnyChar("{, }"), absl::SkipEmpty())) {
    const auto* found =
        std::find(std::begin(kPrecisions), std::end(kPrecisions),
                  absl::string_view(part));
    // A precision of another name promises nothing.
    lowest =
        found == std::end(kPrecisions)
            ? 0
            : std::min(lowest,
                       static_cast<size_t>(found - std::begin(kPrecisions)));
  }
  return lowest;
}

// Returns true if there are two index vectors or more, or perhaps are.
bool HasSeveralIndices(const Computation& computation,
                       const Instruction& instruction) {
  const Attributes& attributes = instruction.attributes();
  // gather(operand, indices); scatter(operands…, indices, updates…).
  const Shape& indices =
      computation[instruction.operand(instruction.operand_count() / 2)].shape();
  const int64_t vector_dim = attributes.gather != nullptr
                                 ? attributes.gather->index_vector_dim
                                 : attributes.scatter->index_vector_dim;
  int64_t count = 1;
  for (int64_t i = 0; i < indices.rank(); ++i) {
    if (indices.is_dynamic_dimension(i)) return true;
    if (i != vector_dim) count *= indices.dimension(i);
  }
  return count > 1;
}

void Add(const Computation& computation, const Instruction& instruction,
         double count, Promises& promises) {
  const Attributes& attributes = instruction.attributes();
  const Opcode opcode = instruction.opcode();
  if (IsContraction(opcode)) {
    const auto& operands = instruction.operands();
    if (std::none_of(operands.begin(), operands.end(), [&](InstructionId id) {
          return HasDigitsToLose(computation[id].shape());
        })) {
      return;
    }
    promises.lowest_precision =
        std::min(promises.lowest_precision, LowestPrecision(instruction));
    const std::string* algorithm = attributes.FindOther("algorithm");
    promises.algorithms.insert(algorithm == nullptr ? "none" : *algorithm);
  } else if (opcode == Opcode::kSort && !attributes.is_stable) {
    promises.unstable_sorts += count;
  } else if ((opcode == Opcode::kGather && attributes.gather != nullptr) ||
             (opcode == Opcode::kScatter && attributes.scatter != nullptr)) {
    if (!HasSeveralIndices(computation, instruction)) return;
    if (attributes.indices_are_sorted) promises.sorted_claims += count;
    if (attributes.unique_indices) promises.unique_claims += count;
  }
}

Promises PromisesOf(const Module& module) {
  const std::vector<double> calls = CallCounts(module);
  Promises promises;
  for (const Computation& computation : module.computations()) {
    const double count = calls[static_cast<size_t>(computation.id())];
    if (count == 0) continue;
    for (const Instruction& instruction : computation.instructions()) {
      Add(computation, instruction, count, promises);
    }
  }
  return promises;
}

}  // namespace

std::optional<std::string> PromiseDifference(const Module& a, const Module& b) {
  const Promises x = PromisesOf(a);
  const Promises y = PromisesOf(b);
  const auto differs = [](absl::string_view what, const auto& of_a,
                          const auto& of_b) {
    return absl::StrCat(what, ": ", of_a, " in the original, ", of_b,
                        " in the rewrite");
  };
  // Dots and convolutions of a rewrite of something else promise nothing and
  // have no algorithm.
  std::set<std::string> known = x.algorithms;
  if (known.empty()) known.insert("none");
  for (const std::string& algorithm : y.algorithms) {
    if (known.count(algorithm) == 0) {
      return differs("algorithm of a dot", *known.begin(), algorithm);
    }
  }
  if (!x.algorithms.empty() && y.lowest_precision < x.lowest_precision) {
    return differs("lowest operand_precision", kPrecisions[x.lowest_precision],
                   kPrecisions[y.lowest_precision]);
  }
  if (y.sorted_claims > x.sorted_claims) {
    return differs("instructions with indices_are_sorted", x.sorted_claims,
                   y.sorted_claims);
  }
  if (y.unique_claims > x.unique_claims) {
    return differs("instructions with unique_indices", x.unique_claims,
                   y.unique_claims);
  }
  if (y.unstable_sorts > x.unstable_sorts) {
    return differs("unstable sorts", x.unstable_sorts, y.unstable_sorts);
  }
  return std::nullopt;
}

}  // namespace hone::hlo
