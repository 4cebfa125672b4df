#ifndef HONE_TESTS_SUPPORT_RANDOM_MODULE_H_
#define HONE_TESTS_SUPPORT_RANDOM_MODULE_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace hone::testing {

// A kind of content beyond plain arithmetic, which a module has only when its
// options ask for it.
enum class Feature : uint8_t {
  // Groups of instructions that the evaluator runs.
  kComplex,           // arithmetic and movement of c64 and c128
  kNarrowFloats,      // f8 types
  kSubByteIntegers,   // s4, u4, s2, u2
  kWideIntegers,      // u64 and s64 beyond 2^53
  kBranches,          // conditionals of tuples, indices out of range
  kLoops,             // 0, 1, many and unknown trips, other steps, dead ones
  kInits,             // reductions that do not start at the identity
  kUnstableSorts,     // with ties
  kVariadicScatters,  // several operands
  kMagnitudes,        // factors from 1e-38 to 1e38
  kLayouts,           // arrays that are not row-major
  kBarriers,          // optimization barriers around values and tuples
  // Attributes of any instruction.
  kControlDependencies,
  kSharding,  // over two partitions
  kFrontendAttributes,
  kOrigin,
  // Groups of instructions without a meaning on one device; the evaluator
  // refuses the module.
  kDynamicShapes,
  kEffects,      // custom calls, with and without side effects
  kFeeds,        // infeed, outfeed, send, recv
  kCollectives,  // over two partitions
  kRng,          // stateful and default generators
};
inline constexpr int kFeatureCount = static_cast<int>(Feature::kRng) + 1;

absl::string_view FeatureName(Feature feature);
// Returns true if the evaluator refuses modules with this feature.
bool IsStructuralOnly(Feature feature);

struct RandomModuleOptions {
  // The amount of each feature. For groups of instructions, the weight of a
  // group; the plain groups weigh about 200 together. For attributes, the
  // percentage of instructions that get one. 0 leaves the feature out.
  std::array<int, kFeatureCount> amounts{};
  // Leaves out opcodes that not every XLA:CPU reads and compiles, and
  // attributes that it loses, so that it can judge the module.
  bool established_only = false;
  // Groups of instructions in the entry computation.
  int min_steps = 6;
  int max_steps = 35;

  int amount(Feature feature) const {
    return amounts[static_cast<size_t>(feature)];
  }
  void set_amount(Feature feature, int amount) {
    amounts[static_cast<size_t>(feature)] = amount;
  }
};

// A random choice of features: a quarter of the seeds has none, half has
// features that the evaluator runs, a quarter has others too.
RandomModuleOptions RandomFeatures(uint64_t seed);

// The names of the features that the options ask for, separated by spaces.
std::string FeatureNames(const RandomModuleOptions& options);

// The text of a random valid module for judging rewrites by evaluation: small
// arrays (at most a few hundred elements), every opcode that the evaluator
// runs, and much for passes to do: shared and repeated subexpressions, neutral
// operands, inverse pairs, scalars that are broadcast, dimensions of size 1,
// calls, loops that count, constants, dead code. The options add features.
//
// Without kMagnitudes, floats stay of moderate size on arguments as
// RandomArguments makes them, and functions are kept away from their poles, so
// that rounding in another order changes little. Functions with jumps (floor,
// compare, sort, …) see only values that no legal rewrite rounds differently:
// parameters, constants and what moves, selects or negates them.
//
// Determinism: the text depends on the seed and the options only.
std::string RandomModuleText(uint64_t seed,
                             const RandomModuleOptions& options = {});

}  // namespace hone::testing

#endif  // HONE_TESTS_SUPPORT_RANDOM_MODULE_H_
