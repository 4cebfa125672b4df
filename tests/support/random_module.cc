#include "tests/support/random_module.h"

#include "absl/strings/str_cat.h"

#include "tests/support/random_graph.h"

namespace hone::testing {
namespace {

struct Step {
  void (RandomGraph::*add)();
  int weight;
};

// What a graph is made of.
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

}  // namespace

void RandomGraph::Grow(int steps) {
  for (int i = 0; i < steps; ++i) {
    auto at = static_cast<int>(Below(TotalWeight()));
    for (const Step& step : kSteps) {
      at -= step.weight;
      if (at >= 0) continue;
      (this->*step.add)();
      break;
    }
  }
}

std::string RandomModuleText(uint64_t seed) {
  RandomModuleState state(seed);
  for (int i = 0; i < 3; ++i) {
    state.sizes.push_back(2 + static_cast<int64_t>(state.rng.Below(4)));
  }
  RandomGraph entry(state, 0);
  entry.Grow(6 + static_cast<int>(state.rng.Below(30)));
  const std::string main = entry.Finish("ENTRY main", entry.ChooseRoot());
  std::string text = absl::StrCat("HloModule random_", seed, "\n\n");
  for (const std::string& computation : state.computations) {
    absl::StrAppend(&text, computation, "\n");
  }
  return absl::StrCat(text, main);
}

}  // namespace hone::testing
