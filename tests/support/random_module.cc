#include "tests/support/random_module.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/rng.h"
#include "tests/support/random_graph.h"

namespace hone::testing {
namespace {

struct Step {
  void (RandomGraph::*add)();
  int weight;
};

// The steps that make a graph, with their weights.
constexpr Step kSteps[] = {
    {&RandomGraph::AddUnary, 8},
    {&RandomGraph::AddGuardedUnary, 4},
    {&RandomGraph::AddJumpingUnary, 3},
    {&RandomGraph::AddIntegerUnary, 2},
    {&RandomGraph::AddBinary, 14},
    {&RandomGraph::AddGuardedBinary, 4},
    {&RandomGraph::AddIntegerBinary, 5},
    {&RandomGraph::AddLogic, 2},
    {&RandomGraph::AddCompare, 3},
    {&RandomGraph::AddSelect, 3},
    {&RandomGraph::AddClamp, 2},
    {&RandomGraph::AddConvert, 5},
    {&RandomGraph::AddComplex, 4},
    {&RandomGraph::AddBitcastConvert, 1},
    {&RandomGraph::AddNeutral, 8},
    {&RandomGraph::AddDuplicate, 6},
    {&RandomGraph::AddBroadcast, 6},
    {&RandomGraph::AddReshape, 6},
    {&RandomGraph::AddTranspose, 6},
    {&RandomGraph::AddSlice, 5},
    {&RandomGraph::AddPad, 3},
    {&RandomGraph::AddConcatenate, 4},
    {&RandomGraph::AddReverse, 2},
    {&RandomGraph::AddIota, 2},
    {&RandomGraph::AddDynamicSlice, 3},
    {&RandomGraph::AddDynamicUpdateSlice, 3},
    {&RandomGraph::AddGather, 2},
    {&RandomGraph::AddScatter, 2},
    {&RandomGraph::AddNeutralMovement, 6},
    {&RandomGraph::AddMovedElementwise, 3},
    {&RandomGraph::AddMovedReduce, 4},
    {&RandomGraph::AddReduce, 6},
    {&RandomGraph::AddArgMax, 1},
    {&RandomGraph::AddReduceWindow, 2},
    {&RandomGraph::AddSelectAndScatter, 1},
    {&RandomGraph::AddSort, 2},
    {&RandomGraph::AddTopK, 1},
    {&RandomGraph::AddDot, 6},
    {&RandomGraph::AddTransposedDot, 2},
    {&RandomGraph::AddConvolution, 2},
    {&RandomGraph::AddBatchNorm, 2},
    {&RandomGraph::AddLinearAlgebra, 1},
    {&RandomGraph::AddFft, 1},
    {&RandomGraph::AddRandomBits, 1},
    {&RandomGraph::AddArithmeticIdiom, 5},
    {&RandomGraph::AddLogicIdiom, 4},
    {&RandomGraph::AddIndexingIdiom, 4},
    {&RandomGraph::AddReductionIdiom, 4},
    {&RandomGraph::AddContractionIdiom, 4},
    {&RandomGraph::AddMovementIdiom, 4},
    {&RandomGraph::AddTuple, 2},
    {&RandomGraph::AddCall, 3},
    {&RandomGraph::AddMap, 1},
    {&RandomGraph::AddWhile, 2},
    {&RandomGraph::AddConditional, 2},
};

constexpr int TotalWeight() {
  int total = 0;
  for (const Step& step : kSteps) total += step.weight;
  return total;
}

struct FeatureStep {
  Feature feature;
  void (RandomGraph::*add)();
};

constexpr FeatureStep kFeatureSteps[] = {
    {Feature::kComplex, &RandomGraph::AddComplexNumbers},
    {Feature::kNarrowFloats, &RandomGraph::AddNarrowFloats},
    {Feature::kSubByteIntegers, &RandomGraph::AddSubByteIntegers},
    {Feature::kWideIntegers, &RandomGraph::AddWideIntegers},
    {Feature::kBranches, &RandomGraph::AddTupleConditional},
    {Feature::kLoops, &RandomGraph::AddLoop},
    {Feature::kInits, &RandomGraph::AddInit},
    {Feature::kUnstableSorts, &RandomGraph::AddUnstableSort},
    {Feature::kVariadicScatters, &RandomGraph::AddVariadicScatter},
    {Feature::kMagnitudes, &RandomGraph::AddMagnitudes},
    {Feature::kLayouts, &RandomGraph::AddLayout},
    {Feature::kBarriers, &RandomGraph::AddBarrier},
    {Feature::kDynamicShapes, &RandomGraph::AddDynamicShape},
    {Feature::kEffects, &RandomGraph::AddEffect},
    {Feature::kFeeds, &RandomGraph::AddFeed},
    {Feature::kCollectives, &RandomGraph::AddCollective},
    {Feature::kRng, &RandomGraph::AddRandomNumbers},
};

struct FeatureInfo {
  Feature feature;
  absl::string_view name;
  bool structural_only;
  bool is_attribute;
};

constexpr FeatureInfo kFeatures[] = {
    {Feature::kComplex, "complex", false, false},
    {Feature::kNarrowFloats, "narrow_floats", false, false},
    {Feature::kSubByteIntegers, "sub_byte_integers", false, false},
    {Feature::kWideIntegers, "wide_integers", false, false},
    {Feature::kBranches, "branches", false, false},
    {Feature::kLoops, "loops", false, false},
    {Feature::kInits, "inits", false, false},
    {Feature::kUnstableSorts, "unstable_sorts", false, false},
    {Feature::kVariadicScatters, "variadic_scatters", false, false},
    {Feature::kMagnitudes, "magnitudes", false, false},
    {Feature::kLayouts, "layouts", false, false},
    {Feature::kBarriers, "barriers", false, false},
    {Feature::kControlDependencies, "control_dependencies", false, true},
    {Feature::kSharding, "sharding", false, true},
    {Feature::kFrontendAttributes, "frontend_attributes", false, true},
    {Feature::kOrigin, "origin", false, true},
    {Feature::kDynamicShapes, "dynamic_shapes", true, false},
    {Feature::kEffects, "effects", true, false},
    {Feature::kFeeds, "feeds", true, false},
    {Feature::kCollectives, "collectives", true, false},
    {Feature::kRng, "rng", true, false},
};
static_assert(std::size(kFeatures) == kFeatureCount);

}  // namespace

absl::string_view FeatureName(Feature feature) {
  return kFeatures[static_cast<size_t>(feature)].name;
}

bool IsStructuralOnly(Feature feature) {
  return kFeatures[static_cast<size_t>(feature)].structural_only;
}

RandomModuleOptions RandomFeatures(uint64_t seed) {
  RandomModuleOptions options;
  if (seed % 4 == 0) return options;
  const bool structural = seed % 4 == 3;
  Rng rng(seed);
  for (const FeatureInfo& info : kFeatures) {
    const int amount = 5 + static_cast<int>(rng.Below(30));
    const uint64_t chance = rng.Below(12);
    if (info.structural_only ? structural && chance < 5 : chance < 4) {
      options.set_amount(info.feature, amount);
    }
  }
  return options;
}

std::string FeatureNames(const RandomModuleOptions& options) {
  std::vector<absl::string_view> names;
  for (const FeatureInfo& info : kFeatures) {
    if (options.amount(info.feature) > 0) names.push_back(info.name);
  }
  return absl::StrJoin(names, " ");
}

void RandomGraph::Grow(int steps) {
  int total = TotalWeight();
  for (const FeatureStep& step : kFeatureSteps) {
    total += state_.options.amount(step.feature);
  }
  for (int i = 0; i < steps; ++i) {
    auto at = static_cast<int>(Below(static_cast<uint64_t>(total)));
    const auto is_chosen = [&at](int weight) {
      const bool before = at >= 0;
      at -= weight;
      return before && at < 0;
    };
    for (const Step& step : kSteps) {
      if (is_chosen(step.weight)) (this->*step.add)();
    }
    for (const FeatureStep& step : kFeatureSteps) {
      if (is_chosen(state_.options.amount(step.feature))) (this->*step.add)();
    }
  }
}

std::string RandomModuleText(uint64_t seed,
                             const RandomModuleOptions& options) {
  RandomModuleState state(seed, options);
  for (int i = 0; i < 3; ++i) {
    state.sizes.push_back(2 + static_cast<int64_t>(state.rng.Below(4)));
  }
  RandomGraph entry(state, 0);
  entry.Grow(options.min_steps +
             static_cast<int>(state.rng.Below(static_cast<uint64_t>(
                 options.max_steps - options.min_steps + 1))));
  const std::string main = entry.Finish("ENTRY main", entry.ChooseRoot());
  std::string text = absl::StrCat("HloModule random_", seed);
  if (options.amount(Feature::kSharding) > 0 ||
      options.amount(Feature::kCollectives) > 0) {
    absl::StrAppend(&text, ", num_partitions=2");
  }
  absl::StrAppend(&text, "\n\n");
  for (const std::string& computation : state.computations) {
    absl::StrAppend(&text, computation, "\n");
  }
  return absl::StrCat(text, main);
}

}  // namespace hone::testing
