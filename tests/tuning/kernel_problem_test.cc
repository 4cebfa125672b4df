#include "tuning/tasks/kernel_problem.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "loops/lowering/lowering.h"
#include "loops/text/text.h"
#include "loops/transforms/registry.h"
#include "loops/transforms/script.h"
#include "optimizers/moves.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_modules.h"
#include "tests/tuning/scripted_kernels.h"
#include "tuning/registry.h"

namespace hone::tuning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::_;
using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

constexpr char kMatmul[] = R"(HloModule matmul
ENTRY main {
  a = f32[48,40] parameter(0)
  b = f32[40,56] parameter(1)
  ROOT c = f32[48,56] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";
constexpr char kRows[] = R"(HloModule rows
add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}
ENTRY main {
  x = f32[96,75] parameter(0)
  e = f32[96,75] exponential(x)
  zero = f32[] constant(0)
  sums = f32[96] reduce(e, zero), dimensions={1}, to_apply=add
  wide = f32[96,75] broadcast(sums), dimensions={0}
  ROOT y = f32[96,75] divide(e, wide)
}
)";
// Three nests of loops that have many divisors.
constexpr char kManySplits[] = R"(HloModule many
ENTRY main {
  x = f32[720,1440,64] parameter(0)
  y = f32[1440,720,64] parameter(1)
  t = f32[1440,720,64] transpose(x), dimensions={1,0,2}
  a = f32[1440,720,64] add(t, y)
  e = f32[720,1440,64] negate(x)
  ROOT r = (f32[1440,720,64], f32[720,1440,64]) tuple(a, e)
}
)";

struct Case {
  std::string name;
  const char* module;
};

class KernelProblemTest : public ::testing::TestWithParam<Case> {
 protected:
  std::unique_ptr<space::Problem> MakeProblem() {
    return (*FindTask("kernel"))
        ->MakeProblem(module_, {}, {.target = "cpu:a", .kernels = &kernels_})
        .value();
  }

  loops::Program ProgramOf(const std::vector<int32_t>& actions) const {
    return loops::ApplyScript(lowered_, ScriptOf(actions)).value();
  }
  std::vector<loops::Step> ScriptOf(const std::vector<int32_t>& actions) const {
    return kernel_.ScriptOf({actions}).value();
  }
  space::StatePtr StateOf(const std::vector<int32_t>& actions) const {
    space::StatePtr state = kernel_.InitialState();
    for (const int32_t action : actions) {
      state = kernel_.Step(state, action).value();
    }
    return state;
  }
  // The numbers of legal actions, by their names.
  std::map<std::string, int32_t> Named(const space::StatePtr& state) const {
    std::map<std::string, int32_t> named;
    for (const int32_t action : kernel_.LegalActions(state)) {
      const std::string name = kernel_.ActionNameIn(state, action);
      EXPECT_TRUE(named.emplace(name, action).second) << name << " twice";
    }
    return named;
  }
  int32_t Named(const char* name) const {
    return Named(kernel_.InitialState()).at(name);
  }
  // A walk by legal actions from `lowered`.
  std::vector<int32_t> RandomWalk(int steps, Rng& rng) const {
    std::vector<int32_t> walk = {Named("lowered")};
    space::StatePtr state = StateOf(walk);
    for (int i = 0; i < steps; ++i) {
      const std::vector<int32_t> legal = kernel_.LegalActions(state);
      if (legal.empty()) break;
      walk.push_back(legal[rng.Below(legal.size())]);
      state = kernel_.Step(state, walk.back()).value();
    }
    return walk;
  }

  const hlo::Module module_ = ParseOrDie(GetParam().module);
  const loops::Program lowered_ = loops::LowerToProgram(module_).value();
  ScriptedKernels kernels_;
  const std::unique_ptr<space::Problem> problem_ = MakeProblem();
  const KernelProblem& kernel_ = static_cast<const KernelProblem&>(*problem_);
};

TEST_P(KernelProblemTest, EveryLegalStepHasANumberThatStepAccepts) {
  const loops::Machine machine = {.threads = 1};
  Rng rng(1);
  for (const int steps : {0, 3, 6}) {
    const std::vector<int32_t> walk = RandomWalk(steps, rng);
    const space::StatePtr state = StateOf(walk);
    const std::map<std::string, int32_t> named = Named(state);
    std::vector<std::string> names;
    std::set<int32_t> numbers;
    for (const auto& [name, action] : named) {
      names.push_back(name);
      EXPECT_TRUE(numbers.insert(action).second) << name;
      // The step that the name says, and no other.
      std::vector<int32_t> longer = walk;
      longer.push_back(action);
      HONE_ASSERT_OK(kernel_.Step(state, action).status()) << name;
      EXPECT_EQ(loops::PrintStep(ScriptOf(longer).back()), name);
    }
    std::vector<int32_t> by_transform;
    for (size_t t = 0; t < loops::AllTransforms().size(); ++t) {
      const std::vector<int32_t> of_one = kernel_.LegalSteps(state, t);
      by_transform.insert(by_transform.end(), of_one.begin(), of_one.end());
    }
    EXPECT_EQ(by_transform, kernel_.LegalActions(state));
    std::vector<std::string> legal;
    for (const loops::Step& step :
         loops::LegalSteps(ProgramOf(walk), machine)) {
      legal.push_back(loops::PrintStep(step));
    }
    EXPECT_THAT(names, IsSupersetOf(legal));
  }
}

// Whatever is remembered of others.
TEST_P(KernelProblemTest, AStateIsThatOfItsActions) {
  Rng rng(3);
  std::vector<std::vector<int32_t>> candidates = {{}};
  for (int i = 0; i < 3; ++i) {
    std::vector<int32_t> walk = RandomWalk(5, rng);
    for (; walk.size() > 1; walk.pop_back()) candidates.push_back(walk);
  }
  std::shuffle(candidates.begin(), candidates.end(), rng);
  for (int repetition = 0; repetition < 2; ++repetition) {
    for (const std::vector<int32_t>& actions : candidates) {
      const auto state = kernel_.StateOf({actions});
      HONE_ASSERT_OK(state.status());
      EXPECT_EQ((*state)->key(), StateOf(actions)->key());
      const KernelProblem::Schedule schedule =
          KernelProblem::ScheduleAt(*state);
      EXPECT_EQ(loops::PrintProgram(schedule.program),
                loops::PrintProgram(
                    loops::ApplyScript(lowered_, schedule.script).value()));
      EXPECT_EQ(schedule.program_key,
                FastHash(loops::PrintProgram(schedule.program)));
    }
  }
  std::vector<int32_t> illegal = candidates.back();
  illegal.push_back(Named("lowered"));
  illegal.push_back(Named("lowered"));
  EXPECT_THAT(kernel_.StateOf({illegal}),
              StatusIs(absl::StatusCode::kInvalidArgument, _));
}

TEST_P(KernelProblemTest, ACandidateIsTheSameScriptInEveryProblem) {
  Rng rng(2);
  for (int i = 0; i < 5; ++i) {
    const std::vector<int32_t> walk = RandomWalk(6, rng);
    const auto other = MakeProblem();
    EXPECT_EQ(*static_cast<const KernelProblem&>(*other).ScriptOf({walk}),
              ScriptOf(walk));
  }
}

TEST_P(KernelProblemTest, NumbersStayThroughStepsElsewhere) {
  Rng rng(3);
  const std::vector<int32_t> walk = RandomWalk(5, rng);
  std::map<std::string, int32_t> known;
  size_t again = 0;
  for (size_t length = 1; length <= walk.size(); ++length) {
    for (const auto& [name, action] : Named(StateOf(
             {walk.begin(), walk.begin() + static_cast<int>(length)}))) {
      const auto [it, added] = known.emplace(name, action);
      EXPECT_EQ(it->second, action) << name;
      if (!added) ++again;
    }
  }
  EXPECT_GT(again, 5);
}

TEST_P(KernelProblemTest, ExpandingWritesOutTheSameSchedule) {
  Rng rng(4);
  for (int i = 0; i < 8; ++i) {
    std::vector<int32_t> actions;
    for (int made = 0; made < i % 4; ++made) {
      const std::vector<int32_t> legal = kernel_.LegalActions(StateOf(actions));
      const int32_t action = legal[rng.Below(legal.size())];
      if (!absl::StrContains(kernel_.ActionName(action), "=")) break;
      actions.push_back(action);
    }
    const size_t choices = actions.size();
    if (i % 2 == 1) {
      actions.push_back(Named("transform"));
      const std::vector<int32_t> legal = kernel_.LegalActions(StateOf(actions));
      if (!legal.empty()) actions.push_back(legal[rng.Below(legal.size())]);
    }
    const std::vector<int32_t> expanded = kernel_.Expand(actions);
    EXPECT_EQ(ScriptOf(expanded), ScriptOf(actions));
    EXPECT_EQ(expanded.size(), choices + 1 + ScriptOf(actions).size());
    EXPECT_LE(expanded.size(), static_cast<size_t>(kernel_.max_steps()));
    EXPECT_EQ(kernel_.Expand(expanded), expanded);
    EXPECT_EQ(StateOf(expanded)->key(),
              StateOf(kernel_.Expand(actions))->key());
  }
  EXPECT_GT(kernel_.Expand({}).size(), 2);
}

TEST_P(KernelProblemTest, ADecisionInTheDefaultIsExchangedAndTheRestKept) {
  const std::vector<int32_t> written = kernel_.Expand({});
  size_t exchanged = 0;
  for (size_t i = 1; i < written.size(); ++i) {
    const space::StatePtr before =
        StateOf({written.begin(), written.begin() + static_cast<int>(i)});
    const std::string name = kernel_.ActionNameIn(before, written[i]);
    for (const int32_t other : kernel_.Substitutes(before, written[i])) {
      const std::string other_name = kernel_.ActionNameIn(before, other);
      EXPECT_NE(other_name, name);
      // The same transformation at the same place.
      const std::vector<std::string> a = absl::StrSplit(name, ' ');
      const std::vector<std::string> b = absl::StrSplit(other_name, ' ');
      EXPECT_EQ(a[0], b[0]);
      EXPECT_EQ(a[1], b[1]);
      HONE_EXPECT_OK(kernel_.Step(before, other).status());
      ++exchanged;
    }
  }
  EXPECT_GT(exchanged, 0);
  // A choice has its other values.
  const int32_t choice = kernel_.LegalActions(kernel_.InitialState())[0];
  const std::vector<std::string> parts =
      absl::StrSplit(kernel_.ActionName(choice), '=');
  for (const int32_t other :
       kernel_.Substitutes(kernel_.InitialState(), choice)) {
    EXPECT_TRUE(absl::StartsWith(kernel_.ActionName(other),
                                 absl::StrCat(parts[0], "=")));
    EXPECT_NE(other, choice);
  }
}

TEST_P(KernelProblemTest, EditsOfTheDefaultChangeOneDecisionOfItsScript) {
  const std::vector<loops::Step> script = ScriptOf({});
  std::set<std::string> programs;
  int one_parameter = 0, removed = 0, longer = 0;
  Rng rng(5);
  // Few steps of the matrix product's script can go without many others.
  for (int i = 0; i < 200; ++i) {
    const std::vector<int32_t> edited =
        optimizers::EditSequence(kernel_, {}, rng);
    const std::vector<loops::Step> other = ScriptOf(edited);
    programs.insert(loops::PrintProgram(ProgramOf(edited)));
    if (other.size() > script.size()) ++longer;
    if (other.size() < script.size() && other.size() + 3 > script.size()) {
      ++removed;
    }
    if (other.size() != script.size()) continue;
    int differing = 0;
    for (size_t s = 0; s < script.size(); ++s) {
      if (other[s] != script[s]) ++differing;
    }
    if (differing == 1) ++one_parameter;
  }
  EXPECT_GT(programs.size(), 10);
  EXPECT_GT(one_parameter, 0);
  EXPECT_GT(removed, 0);
  EXPECT_GT(longer, 0);
}

TEST_P(KernelProblemTest, DescribesEveryLegalAction) {
  const space::ActionSpec spec = kernel_.action_spec();
  Rng rng(6);
  for (const std::vector<int32_t>& actions :
       {std::vector<int32_t>{}, RandomWalk(0, rng), RandomWalk(4, rng)}) {
    const space::StatePtr state = StateOf(actions);
    const std::vector<int32_t> legal = kernel_.LegalActions(state);
    const space::ActionBatch batch = kernel_.Describe(state, legal);
    const auto nodes =
        static_cast<int32_t>(kernel_.Observe(state).node_kinds.size());
    ASSERT_EQ(batch.kinds.size(), legal.size());
    ASSERT_EQ(batch.focus.size(), legal.size());
    ASSERT_EQ(batch.features.size(), legal.size() * spec.feature_names.size());
    for (size_t i = 0; i < legal.size(); ++i) {
      const std::string name = kernel_.ActionNameIn(state, legal[i]);
      const std::string& kind =
          spec.kind_names.at(static_cast<size_t>(batch.kinds[i]));
      EXPECT_EQ(name.substr(0, name.find_first_of(" =")), kind);
      EXPECT_GE(batch.focus[i], absl::StrContains(name, ' ') ? 0 : -1) << name;
      EXPECT_LT(batch.focus[i], nodes);
    }
    for (const float feature : batch.features) {
      ASSERT_TRUE(std::isfinite(feature) && std::abs(feature) <= 1);
    }
    // Steps of one kind at one place differ in their features.
    std::set<std::vector<float>> splits;
    size_t count = 0;
    for (size_t i = 0; i < legal.size(); ++i) {
      if (spec.kind_names[static_cast<size_t>(batch.kinds[i])] != "split") {
        continue;
      }
      const auto begin = batch.features.begin() +
                         static_cast<int64_t>(i * spec.feature_names.size());
      std::vector<float> row(
          begin, begin + static_cast<int64_t>(spec.feature_names.size()));
      row.push_back(static_cast<float>(batch.focus[i]));
      splits.insert(row);
      ++count;
    }
    EXPECT_EQ(splits.size(), count);
  }
}

TEST_P(KernelProblemTest, NothingIsMeasuredBesidesTrials) {
  for (const char* name : {"annealing", "beam", "greedy", "random"}) {
    kernels_.requests.clear();
    const auto problem = MakeProblem();
    HONE_ASSERT_OK_AND_ASSIGN(
        const auto optimizer,
        optimizers::CreateOptimizer(name, *problem, {.seed = 1}));
    std::set<std::string> shown;
    int64_t trials = 0;
    optimizers::SearchOptions options;
    options.on_trial = [&](const space::Trial& trial) {
      ++trials;
      shown.insert(loops::PrintScript(
          *static_cast<const KernelProblem&>(*problem).ScriptOf(
              trial.candidate)));
      return absl::OkStatus();
    };
    HONE_ASSERT_OK(optimizers::RunSearch(*problem, *optimizer, {.trials = 12},
                                         SystemClock(), options)
                       .status());
    EXPECT_EQ(trials, 12) << name;
    EXPECT_LE(kernels_.requests.size(), 12) << name;
    for (const backends::KernelRequest& request : kernels_.requests) {
      for (const std::string& script : request.candidate_scripts) {
        EXPECT_THAT(shown, Contains(script)) << name;
      }
    }
  }
}

TEST_P(KernelProblemTest, LegalActionsAreNotListedToTheEndOnceStopped) {
  int polls = 0;
  const auto problem =
      (*FindTask("kernel"))
          ->MakeProblem(module_, {},
                        {.target = "cpu:a",
                         .kernels = &kernels_,
                         .stop = [&polls] { return ++polls > 3; }})
          .value();
  const space::SequentialProblem& stopped = *problem->sequential();
  polls = 0;
  EXPECT_LE(stopped.LegalActions(stopped.InitialState()).size(), 3);
  polls = 0;
  const auto lowered = stopped.Step(stopped.InitialState(), LoweredAction());
  HONE_ASSERT_OK(lowered);
  polls = 3;
  EXPECT_THAT(stopped.LegalActions(*lowered), IsEmpty());
}

TEST_P(KernelProblemTest, ForeignNumbersAreRefused) {
  const space::StatePtr lowered = StateOf({Named("lowered")});
  for (const int32_t action :
       {-1, kernel_.action_count(), kernel_.action_count() - 1,
        Named("transform")}) {
    EXPECT_THAT(kernel_.Step(lowered, action),
                StatusIs(absl::StatusCode::kInvalidArgument, _));
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, KernelProblemTest,
                         ::testing::Values(Case{"matmul", kMatmul},
                                           Case{"rows", kRows}),
                         [](const auto& parameter) {
                           return parameter.param.name;
                         });

class ManySplits : public KernelProblemTest {};

TEST_P(ManySplits, AreAllLegal) {
  const space::StatePtr state = StateOf({Named("lowered")});
  std::set<std::string> scripts;
  for (const auto& [name, action] : Named(state)) {
    if (!absl::StartsWith(name, "split ")) continue;
    EXPECT_EQ(loops::PrintStep(ScriptOf({Named("lowered"), action}).back()),
              name);
    scripts.insert(name);
  }
  EXPECT_GT(scripts.size(), 64);
}

INSTANTIATE_TEST_SUITE_P(Kernels, ManySplits,
                         ::testing::Values(Case{"many", kManySplits}),
                         [](const auto& parameter) {
                           return parameter.param.name;
                         });

}  // namespace
}  // namespace hone::tuning
