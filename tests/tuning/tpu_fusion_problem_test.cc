#include "tuning/tasks/tpu_fusion_problem.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/fusion/fuse.h"
#include "hlo/fusion/kernel_rules.h"
#include "hlo/fusion/kernels.h"
#include "space/complete.h"
#include "tests/hlo/fusion/support.h"
#include "tests/support/corpus.h"
#include "tests/support/random_module.h"
#include "tests/support/status_matchers.h"

namespace hone::tuning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

absl::StatusOr<double> MadeUpTimer(const hlo::Module& kernel) {
  // Layouts count as well.
  double time = hlo::MadeUpTime(kernel);
  for (const hlo::ShapePtr& shape : kernel.entry_parameter_shapes()) {
    if (shape->layout() != nullptr) time += 7;
  }
  if (kernel.entry_result_shape()->layout() != nullptr) time -= 4;
  return time;
}

std::unique_ptr<TpuFusionProblem> MakeProblem(
    const hlo::Module& module, KernelTimer timer = TimeOneByOne(MadeUpTimer)) {
  auto problem = TpuFusionProblem::Create(module, {std::move(timer)});
  EXPECT_TRUE(problem.ok()) << problem.status();
  return *std::move(problem);
}

std::unique_ptr<TpuFusionProblem> CorpusProblem(absl::string_view name) {
  for (const testing::CorpusModule& entry : testing::CorpusModules()) {
    if (entry.name == name) return MakeProblem(hlo::VerifiedModule(entry.text));
  }
  ADD_FAILURE() << "no module " << name;
  return nullptr;
}

space::Measurement Measure(const space::Problem& problem,
                           std::vector<int32_t> values) {
  absl::StatusOr<space::Measurement> measurement =
      problem.Measure({std::move(values)});
  EXPECT_TRUE(measurement.ok()) << measurement.status();
  return *std::move(measurement);
}

TEST(TpuFusionProblem, TheCostIsThatOfTheKernelsOfTheFusedModule) {
  Rng rng(1);
  int checked = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const hlo::Module module =
        hlo::VerifiedModule(testing::RandomModuleText(seed, {}));
    if (!hlo::KernelsOf(module).ok() ||
        hlo::FusionSpace(module).fusible().empty()) {
      continue;
    }
    const std::unique_ptr<TpuFusionProblem> problem = MakeProblem(module);
    // Of the module with the trip counts of its loops.
    const hlo::FusionSpace& space = problem->space();
    const TpuFusionPlan plan = {hlo::RandomFusion(space, rng),
                                hlo::RandomLayouts(space, rng)};
    HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module fused,
                              hlo::Fuse(space, plan.fused, plan.layouts));
    HONE_ASSERT_OK_AND_ASSIGN(const std::vector<hlo::Kernel> kernels,
                              hlo::KernelsOf(fused));
    double expected = 0;
    for (const hlo::Kernel& kernel : kernels) {
      expected += kernel.executions * *MadeUpTimer(kernel.module);
    }
    const space::Measurement measured =
        Measure(*problem, problem->Values(plan));
    EXPECT_EQ(measured.outcome, space::Outcome::kOk) << measured.message;
    EXPECT_DOUBLE_EQ(measured.cost, expected);
    ++checked;
  }
  EXPECT_GT(checked, 30);
}

TEST(TpuFusionProblem, SeedsAreTheKnownMethods) {
  const std::unique_ptr<TpuFusionProblem> problem =
      CorpusProblem("gpt2_tiny.fwd");
  const std::vector<space::Seed> seeds = problem->Seeds();
  ASSERT_EQ(seeds.size(), 3u);
  EXPECT_EQ(seeds[0].name, "priority");
  EXPECT_EQ(seeds[1].name, "greedy");
  EXPECT_EQ(seeds[2].name, "unfused");
  EXPECT_EQ(problem->DefaultCandidate().choices, seeds[0].candidate.choices);
  std::vector<double> costs;
  for (const space::Seed& seed : seeds) {
    const space::Measurement measured =
        Measure(*problem, seed.candidate.choices);
    EXPECT_EQ(measured.outcome, space::Outcome::kOk) << measured.message;
    costs.push_back(measured.cost);
  }
  EXPECT_EQ(problem->reference_cost(), costs[0]);
  EXPECT_LT(costs[0], costs[2]);
  EXPECT_EQ(problem->evaluations(), 3);
}

TEST(TpuFusionProblem, BadCandidatesAreInvalid) {
  const std::unique_ptr<TpuFusionProblem> problem =
      MakeProblem(hlo::VerifiedModule(hlo::SmallModules()[0]));
  space::Measurement measured = Measure(*problem, {1});
  EXPECT_EQ(measured.outcome, space::Outcome::kInvalid);
  EXPECT_THAT(measured.message, HasSubstr("1 values"));
  std::vector<int32_t> values(static_cast<size_t>(problem->variable_count()));
  values[0] = 2;
  EXPECT_EQ(Measure(*problem, values).outcome, space::Outcome::kInvalid);
  // Two heroes in one kernel.
  measured = Measure(
      *problem, problem->Values({hlo::FuseNodes(problem->space(), {"d", "t"}),
                                 problem->space().RowMajor()}));
  EXPECT_EQ(measured.outcome, space::Outcome::kInvalid);
  EXPECT_GE(measured.violation, 1);
  EXPECT_THAT(measured.message, HasSubstr("d: is fused into more than 1"));
}

constexpr char kChain[] = R"(HloModule m
ENTRY main {
  x = f32[64] parameter(0)
  a = f32[64] negate(x)
  b = f32[64] tanh(a)
  ROOT c = f32[64] sine(b)
})";

TEST(TpuFusionProblem, KernelsThatCannotRunAreInvalid) {
  const auto no_large =
      [](const hlo::Module& kernel) -> absl::StatusOr<double> {
    if (kernel.entry_computation().live_count() > 3) {
      return absl::ResourceExhaustedError("needs 17 MiB, expected at most 16");
    }
    return MadeUpTimer(kernel);
  };
  const std::unique_ptr<TpuFusionProblem> problem =
      MakeProblem(hlo::VerifiedModule(kChain), TimeOneByOne(no_large));
  const space::Measurement measured = Measure(*problem, {1, 1});
  EXPECT_EQ(measured.outcome, space::Outcome::kInvalid);
  EXPECT_EQ(measured.message, "c: needs 17 MiB, expected at most 16");
  EXPECT_EQ(measured.violation, 1);
  // The default has no such kernel.
  EXPECT_EQ(Measure(*problem, problem->DefaultCandidate().choices).outcome,
            space::Outcome::kOk);
  const auto none = [](const hlo::Module&) -> absl::StatusOr<double> {
    return absl::InternalError("no device");
  };
  EXPECT_THAT(TpuFusionProblem::Create(hlo::VerifiedModule(kChain),
                                       {TimeOneByOne(none)}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("a: no device"))));
  const auto negative = [](const hlo::Module&) -> absl::StatusOr<double> {
    return -1;
  };
  EXPECT_THAT(TpuFusionProblem::Create(hlo::VerifiedModule(kChain),
                                       {TimeOneByOne(negative)}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("takes -1 ns, expected a time")));
}

TEST(TpuFusionProblem, RefusesModulesWithNothingToDecide) {
  EXPECT_THAT(TpuFusionProblem::Create(
                  hlo::VerifiedModule(
                      "HloModule m\nENTRY e { ROOT p = f32[4] parameter(0) }"),
                  {TimeOneByOne(MadeUpTimer)}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("module m: has nothing to fuse")));
}

// Decisions of the fusion variables that the rules allow, as numbers: bit i for
// variable i.
std::vector<uint64_t> LegalCodes(const TpuFusionProblem& problem) {
  hlo::KernelRules rules(problem.space());
  const size_t count = problem.space().fusible().size();
  std::vector<uint64_t> legal;
  for (uint64_t code = 0; code < uint64_t{1} << count; ++code) {
    std::vector<int32_t> values(static_cast<size_t>(problem.variable_count()));
    for (size_t i = 0; i < count; ++i) values[i] = code >> i & 1;
    if (rules.Check(problem.Plan(values).fused).ok()) legal.push_back(code);
  }
  return legal;
}

TEST(TpuFusionDomains, CompleteAssignmentsSurviveExactlyIfLegal) {
  Rng rng(5);
  int survived = 0;
  int pruned = 0;
  for (const std::string& text : hlo::SmallModules()) {
    SCOPED_TRACE(text);
    const std::unique_ptr<TpuFusionProblem> problem =
        MakeProblem(hlo::VerifiedModule(text));
    const size_t count = problem->space().fusible().size();
    const std::vector<uint64_t> legal = LegalCodes(*problem);
    const std::unique_ptr<space::Domains> domains = problem->MakeDomains();
    std::vector<int32_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::vector<uint64_t> at_first;
    for (const int32_t variable : order) {
      at_first.push_back(domains->Get(variable));
    }
    for (uint64_t code = 0; code < uint64_t{1} << count; ++code) {
      for (size_t i = count; i > 1; --i) {
        std::swap(order[i - 1], order[rng.Below(i)]);
      }
      const int32_t mark = domains->Mark();
      bool survives = true;
      for (const int32_t variable : order) {
        const int64_t value = code >> variable & 1;
        survives = domains->Narrow(variable, uint64_t{1} << value);
        if (!survives) break;
      }
      const bool is_legal =
          std::find(legal.begin(), legal.end(), code) != legal.end();
      EXPECT_EQ(survives, is_legal) << code;
      ++(survives ? survived : pruned);
      domains->Undo(mark);
      for (const int32_t variable : order) {
        EXPECT_EQ(domains->Get(variable),
                  at_first[static_cast<size_t>(variable)]);
      }
    }
  }
  EXPECT_GT(survived, 50);
  EXPECT_GT(pruned, 50);
}

TEST(TpuFusionDomains, NarrowingLosesNoLegalDecision) {
  Rng rng(6);
  for (const std::string& text : hlo::SmallModules()) {
    SCOPED_TRACE(text);
    const std::unique_ptr<TpuFusionProblem> problem =
        MakeProblem(hlo::VerifiedModule(text));
    const size_t count = problem->space().fusible().size();
    const std::vector<uint64_t> legal = LegalCodes(*problem);
    const std::unique_ptr<space::Domains> domains = problem->MakeDomains();
    for (int draw = 0; draw < 100; ++draw) {
      const uint64_t code = legal[rng.Below(legal.size())];
      const int32_t mark = domains->Mark();
      for (size_t i = 0; i < count; ++i) {
        if (rng.Below(2) == 0) continue;
        EXPECT_TRUE(domains->Narrow(static_cast<int32_t>(i),
                                    uint64_t{1} << (code >> i & 1)));
      }
      for (size_t i = 0; i < count; ++i) {
        EXPECT_NE(domains->Get(static_cast<int32_t>(i)) >> (code >> i & 1) & 1,
                  0u);
      }
      domains->Undo(mark);
    }
  }
}

TEST(TpuFusionDomains, DrawsAndRepairsOfTheCorpusAreLegal) {
  Rng rng(7);
  for (const absl::string_view name : {"gpt2_2l.train", "unet.fwd"}) {
    const std::unique_ptr<TpuFusionProblem> problem = CorpusProblem(name);
    hlo::KernelRules rules(problem->space());
    const std::unique_ptr<space::Domains> domains = problem->MakeDomains();
    std::vector<int32_t> order(static_cast<size_t>(problem->variable_count()));
    std::iota(order.begin(), order.end(), 0);
    for (int i = 0; i < 3; ++i) {
      const auto drawn = problem->Draw(*domains, rng, nullptr);
      ASSERT_TRUE(drawn.has_value());
      HONE_EXPECT_OK(rules.Check(problem->Plan(*drawn).fused));
      for (size_t n = order.size(); n > 1; --n) {
        std::swap(order[n - 1], order[rng.Below(n)]);
      }
      std::vector<int32_t> wanted;
      for (size_t v = 0; v < order.size(); ++v) {
        wanted.push_back(static_cast<int32_t>(rng.Below(2)));
      }
      const auto repaired = space::Repair(*domains, order, wanted, rng);
      ASSERT_TRUE(repaired.has_value());
      HONE_EXPECT_OK(rules.Check(problem->Plan(*repaired).fused));
    }
  }
}

void ExpectSameScore(const space::LocalScore& score,
                     const space::Measurement& measured) {
  EXPECT_EQ(score.rank.violation, measured.violation);
  EXPECT_NEAR(score.rank.cost, measured.cost, 1e-9 * measured.cost + 1e-9);
}

// Legal moves and any other.
TEST(TpuFusionLocal, ScoresAreThoseOfFreshMeasurements) {
  Rng rng(8);
  int64_t violated = 0;
  for (uint64_t seed = 0; seed < 25; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const hlo::Module module =
        hlo::VerifiedModule(testing::RandomModuleText(seed, {}));
    if (!hlo::KernelsOf(module).ok() ||
        hlo::FusionSpace(module).fusible().empty()) {
      continue;
    }
    const std::unique_ptr<TpuFusionProblem> problem = MakeProblem(module);
    const std::unique_ptr<space::LocalState> state =
        problem->MakeLocal(problem->DefaultCandidate());
    ExpectSameScore(state->score(),
                    Measure(*problem, problem->DefaultCandidate().choices));
    std::vector<space::Change> changes;
    for (int step = 0; step < 60; ++step) {
      if (step % 2 == 0) {
        state->Propose(rng, changes);
        if (changes.empty()) continue;
      } else {
        changes.clear();
        for (uint64_t i = 0; i < 1 + rng.Below(3); ++i) {
          const auto variable = static_cast<int32_t>(
              rng.Below(static_cast<uint64_t>(problem->variable_count())));
          const bool is_new = std::none_of(
              changes.begin(), changes.end(),
              [&](const auto& c) { return c.variable == variable; });
          if (is_new) {
            changes.push_back(
                {variable, 1 - state->values()[static_cast<size_t>(variable)]});
          }
        }
      }
      std::vector<int32_t> values(state->values().begin(),
                                  state->values().end());
      const double violation = state->score().rank.violation;
      for (const space::Change& change : changes) {
        values[static_cast<size_t>(change.variable)] = change.value;
      }
      const space::LocalScore score = state->Try(changes);
      ExpectSameScore(score, Measure(*problem, values));
      EXPECT_EQ(state->score().rank.violation, violation);
      violated += score.rank.violation > 0;
      if (rng.Below(2) == 0) continue;
      state->Commit();
      EXPECT_EQ(
          std::vector<int32_t>(state->values().begin(), state->values().end()),
          values);
      ExpectSameScore(state->score(), Measure(*problem, values));
    }
  }
  EXPECT_GT(violated, 100);
}

TEST(TpuFusionLocal, ProposesLegalMovesFromWhatIsLegal) {
  Rng rng(9);
  const std::unique_ptr<TpuFusionProblem> problem =
      CorpusProblem("gpt2_tiny.fwd");
  const std::unique_ptr<space::LocalState> state =
      problem->MakeLocal(problem->DefaultCandidate());
  std::vector<space::Change> changes;
  size_t made = 0;
  size_t borders = 0;
  for (int i = 0; i < 400; ++i) {
    state->Propose(rng, changes);
    if (changes.empty()) continue;
    EXPECT_EQ(state->Try(changes).rank.violation, 0);
    state->Commit();
    ++made;
    borders += changes.size() == 2;
  }
  EXPECT_GT(made, 300u);
  EXPECT_GT(borders, 20u);
}

// However long the program is.
TEST(TpuFusionLocal, AsksForTheKernelsThatAChangeTouches) {
  constexpr int kLength = 1000;
  std::string text = "HloModule m\nENTRY main {\n  n0 = f32[9] parameter(0)\n";
  for (int i = 1; i <= kLength; ++i) {
    // Of as many sizes, so that no kernel equals another.
    absl::StrAppend(&text, i == kLength ? "  ROOT n" : "  n", i, " = f32[",
                    i + 9, "] pad(n", i - 1, ", zero), padding=0_1\n");
    if (i == 1) text.insert(text.find("  n0"), "  zero = f32[] constant(0)\n");
  }
  int asked = 0;
  const auto counting = [&](const hlo::Module& kernel) {
    ++asked;
    return MadeUpTimer(kernel);
  };
  const std::unique_ptr<TpuFusionProblem> problem =
      MakeProblem(hlo::VerifiedModule(text + "}"), TimeOneByOne(counting));
  const std::unique_ptr<space::LocalState> state = problem->MakeLocal(
      {std::vector<int32_t>(static_cast<size_t>(problem->variable_count()))});
  asked = 0;
  Rng rng(10);
  for (int step = 0; step < 50; ++step) {
    const int before = asked;
    state->Try({{static_cast<int32_t>(rng.Below(kLength - 1)), 1}});
    EXPECT_LE(asked - before, 1);
  }
}

}  // namespace
}  // namespace hone::tuning
