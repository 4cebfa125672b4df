#include "tuning/warm_start.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/read_module.h"
#include "space/sequential_problem.h"
#include "storage/memory_store.h"
#include "tests/support/corpus.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_modules.h"
#include "tuning/registry.h"
#include "tuning/tuner.h"

namespace hone::tuning {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

storage::Record RecordOf(const std::string& target, const std::string& space,
                         const std::string& decision) {
  storage::Record record;
  record.key = {"m", target, "pass_order", "score=ops", space};
  record.unit = "ops";
  record.decision = decision;
  return record;
}

TEST(WarmStart, OwnRecordThenTheSameTargetThenOthers) {
  storage::MemoryStore store;
  const storage::CacheKey key = RecordOf("cpu", "2", "").key;
  EXPECT_THAT(FindStarts(store, key), IsEmpty());
  HONE_ASSERT_OK(store.Publish(RecordOf("cpu", "2", "own")));
  HONE_ASSERT_OK(store.Publish(RecordOf("cpu", "1", "older")));
  HONE_ASSERT_OK(store.Publish(RecordOf("gpu", "2", "foreign")));
  HONE_ASSERT_OK(store.Publish(RecordOf("gpu", "1", "beyond")));
  storage::Record other = RecordOf("cpu", "2", "other module");
  other.key.module_fingerprint = "n";
  HONE_ASSERT_OK(store.Publish(other));
  other = RecordOf("cpu", "2", "other options");
  other.key.task_options = "score=xla";
  HONE_ASSERT_OK(store.Publish(other));
  other = RecordOf("cpu", "2", "other task");
  other.key.task = "kernel";
  HONE_ASSERT_OK(store.Publish(other));
  // Of others, the newest first.
  EXPECT_THAT(FindStarts(store, key), ElementsAre("own", "older", "beyond"));
}

TuningSpec Spec(const std::string& optimizer, int64_t trials) {
  TuningSpec spec;
  spec.optimizer = optimizer;
  spec.budget.trials = trials;
  return spec;
}

absl::StatusOr<storage::Record> Tune(storage::Store& store,
                                     const TuningSpec& spec) {
  const TunerContext context{.store = &store, .clock = &SystemClock()};
  const auto module =
      hlo::ReadModuleFile(hone::testing::CorpusPath("dlrm.train"));
  if (!module.ok()) return module.status();
  const auto tuning = CreateTuning(context, spec, *module);
  if (!tuning.ok()) return tuning.status();
  return RunTuning(context, tuning->id);
}

class ForcedTuning : public ::testing::TestWithParam<std::string> {};

TEST_P(ForcedTuning, OfATinyBudgetEndsNoWorseThanTheRecord) {
  storage::MemoryStore store;
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record first,
                            Tune(store, Spec("beam", 300)));
  ASSERT_LT(first.best_cost, first.default_cost);
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record again,
                            Tune(store, Spec(GetParam(), 2)));
  EXPECT_LE(again.best_cost, first.best_cost);
  EXPECT_EQ(again.default_cost, first.default_cost);
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<space::Trial> trials,
                            store.ListTrials(again.tuning_id));
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[0].measurement.cost, first.default_cost);
  EXPECT_EQ(trials[1].measurement.cost, first.best_cost);
}

INSTANTIATE_TEST_SUITE_P(Optimizers, ForcedTuning,
                         ::testing::Values("annealing", "beam", "greedy",
                                           "random"),
                         [](const auto& parameter) { return parameter.param; });

TEST(WarmStart, ARecordOfAnotherSpaceIsUsedAsFarAsItIsKnown) {
  storage::MemoryStore store;
  HONE_ASSERT_OK_AND_ASSIGN(storage::Record record,
                            Tune(store, Spec("beam", 300)));
  HONE_ASSERT_OK(store.DeleteRecord(record.key.Digest()));
  record.key.space_version = "0:old";
  record.tuning_id.clear();
  ASSERT_TRUE(absl::StartsWith(record.decision, R"({"passes":[)"));
  record.decision.insert(std::string(R"({"passes":[)").size(),
                         R"("no-such-pass",)");
  HONE_ASSERT_OK(store.Publish(record));
  HONE_ASSERT_OK_AND_ASSIGN(const storage::Record again,
                            Tune(store, Spec("random", 2)));
  EXPECT_LE(again.best_cost, record.best_cost);
}

TEST(WarmStart, DecisionsThatAreNoneAreNoCandidates) {
  HONE_ASSERT_OK_AND_ASSIGN(const Task* const task, FindTask("pass_order"));
  const hlo::Module module = ParseOrDie(kSimplifiable);
  HONE_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<space::Problem> problem,
                            task->MakeProblem(module, {}, {}));
  for (const char* text :
       {"", "{", "[]", "{}", R"({"passes":3})", R"({"passes":[1]})"}) {
    EXPECT_EQ(task->CandidateOf(*problem, text), std::nullopt) << text;
  }
  std::string many = R"({"passes":["dce")";
  for (int i = 0; i < 1000; ++i) many += R"(,"dce")";
  const auto candidate = task->CandidateOf(*problem, many + "]}");
  ASSERT_TRUE(candidate.has_value());
  EXPECT_EQ(candidate->choices.size(),
            static_cast<size_t>(problem->sequential()->max_steps()));
  EXPECT_EQ(task->CandidateOf(*problem, R"({"passes":["dce"],"lowering":7})"),
            space::Candidate{});
}

}  // namespace
}  // namespace hone::tuning
