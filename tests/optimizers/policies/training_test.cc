#include "optimizers/policies/training.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <unistd.h>

#include "base/clock.h"
#include "optimizers/policies/weights.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_problems.h"

namespace hone::optimizers::policies {
namespace {

using ::hone::testing::OptimalCost;
using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

using learning::Game;
using learning::View;

using MakeToy = std::unique_ptr<space::Problem> (*)();

TrainingSet SetOf(MakeToy make) {
  TrainingProblem problem{
      "toy", [make]() -> absl::StatusOr<std::unique_ptr<space::Problem>> {
        return make();
      }};
  return {{problem}, {problem}};
}

class TrainingTest : public ::testing::Test {
 protected:
  TrainingTest()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                absl::StrCat("training_", getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~TrainingTest() override { std::filesystem::remove_all(folder_); }

  TrainingOptions Options(int64_t updates) const {
    TrainingOptions options;
    options.updates = updates;
    options.weights_file = folder_ / "weights";
    options.state_file = folder_ / "state";
    options.curve_file = folder_ / "curve.csv";
    return options;
  }

  // Returns the cost of the policy's own first proposal.
  double ZeroShot(const space::Problem& problem) const {
    OptimizerOptions options;
    options.weights = folder_ / "weights";
    auto optimizer = CreateOptimizer("policy", problem, options);
    HONE_EXPECT_OK(optimizer);
    auto result = RunSearch(problem, **optimizer, {.trials = 2}, SystemClock());
    HONE_EXPECT_OK(result);
    return result->best->measurement.cost;
  }

  const std::filesystem::path folder_;
};

TEST_F(TrainingTest, LearnsASequentialProblemToItsOptimum) {
  TrainingOptions options = Options(10);
  // It sees beyond the decoy, which pays at once.
  options.teacher = "beam";
  HONE_ASSERT_OK(Train(SetOf(testing::DelayedReward), options));
  const auto problem = testing::DelayedReward();
  EXPECT_EQ(ZeroShot(*problem), OptimalCost(*problem));
}

TEST_F(TrainingTest, LearnsAnAssignmentProblemToItsOptimum) {
  TrainingOptions options = Options(10);
  options.search_trials = 1500;
  options.label_rounds = 30;
  HONE_ASSERT_OK(Train(SetOf(testing::CappedSum), options));
  const auto problem = testing::CappedSum();
  EXPECT_EQ(ZeroShot(*problem), OptimalCost(*problem));
}

TEST_F(TrainingTest, ReinforcementGoesBeyondItsTeacher) {
  // Random search does not get far with the lock, and who imitates it gets no
  // further.
  TrainingOptions options = Options(0);
  options.teacher = "random";
  options.search_trials = 300;
  options.label_rounds = 3;
  HONE_ASSERT_OK_AND_ASSIGN(const TrainingResult imitated,
                            Train(SetOf(testing::CombinationLock), options));
  options.updates = 60;
  HONE_ASSERT_OK_AND_ASSIGN(const TrainingResult reinforced,
                            Train(SetOf(testing::CombinationLock), options));
  EXPECT_LT(reinforced.best_validation, imitated.best_validation);
}

TEST_F(TrainingTest, RefusesProblemsOfBothKinds) {
  const TrainingProblem sequence = SetOf(testing::DelayedReward).training[0];
  const TrainingProblem assignment = SetOf(testing::CappedSum).training[0];
  TrainingOptions options = Options(1);
  options.search_trials = 2;
  EXPECT_THAT(Train({{sequence, assignment}, {}}, options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("toy: an assignment problem, expected a "
                                 "sequential one")));
  // What was found before the fault is kept, for the same training.
  ASSERT_TRUE(std::filesystem::remove(options.state_file));
  EXPECT_THAT(Train({{assignment, sequence}, {}}, options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("toy: a sequential problem, expected an "
                                 "assignment problem")));
}

TEST_F(TrainingTest, TakesWhatFitsOfOtherWeightsWhenAskedTo) {
  const TrainingSet set = SetOf(testing::CappedSum);
  TrainingOptions options = Options(0);
  options.search_trials = 20;
  options.label_rounds = 1;
  options.architecture = "width=8,layers=1";
  HONE_ASSERT_OK(Train(set, options));
  const std::string initial = folder_ / "initial";
  std::filesystem::rename(options.weights_file, initial);
  options.initial_weights = initial;
  // Another architecture.
  options.architecture = "width=8,layers=2";
  EXPECT_THAT(Train(set, options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("layers=1,aggregator=mean,segment=0,"
                                 "conditioning=0,task_heads=0, expected "
                                 "width=8,layers=2")));
  std::string note;
  options.on_note = [&](const std::string& text) { note += text; };
  options.partial = true;
  HONE_ASSERT_OK(Train(set, options));
  EXPECT_THAT(note, HasSubstr("encoder.merge1.weight"));
  EXPECT_THAT(note, ::testing::Not(HasSubstr("encoder.merge0.weight")));
  // Another observation: nine nodes of their own kinds, not eight.
  options.architecture = "width=8,layers=1";
  options.partial = false;
  EXPECT_THAT(Train(SetOf(testing::GraphPartition), options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("weights are for 8 node kinds, expected 9")));
  options.partial = true;
  note.clear();
  HONE_ASSERT_OK(Train(SetOf(testing::GraphPartition), options));
  EXPECT_THAT(note, HasSubstr("encoder.node_kinds.weight"));
  // A policy of the other kind has nothing to take.
  EXPECT_THAT(Train(SetOf(testing::DelayedReward), options),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("initial: weights of a policy for "
                                 "assignments, expected one for sequences")));
}

TEST_F(TrainingTest, GoesOnWhereItStopped) {
  const TrainingSet set = SetOf(testing::NumberRewriting);
  // Saved at update 10; the state is removed at the end, so it is kept aside.
  TrainingOptions options = Options(20);
  const std::filesystem::path kept = folder_ / "kept";
  options.on_progress = [&](const TrainingProgress& progress) {
    if (progress.update == 10) {
      std::filesystem::copy_file(
          options.state_file, kept,
          std::filesystem::copy_options::overwrite_existing);
    }
  };
  HONE_ASSERT_OK(Train(set, options));
  const auto curve = [&] {
    std::ifstream in(options.curve_file);
    std::string line, last;
    while (std::getline(in, line)) last = line;
    // Without the update's number and the time.
    return last.substr(last.find(',', last.find(',') + 1));
  };
  const std::string whole = curve();
  EXPECT_FALSE(std::filesystem::exists(options.state_file));
  std::filesystem::rename(kept, options.state_file);
  std::filesystem::remove(options.curve_file);
  options.on_progress = nullptr;
  HONE_ASSERT_OK_AND_ASSIGN(const TrainingResult result, Train(set, options));
  EXPECT_EQ(result.updates, 20);
  EXPECT_EQ(curve(), whole);
}

TEST_F(TrainingTest, StartsFromWeights) {
  const TrainingSet set = SetOf(testing::DelayedReward);
  HONE_ASSERT_OK_AND_ASSIGN(const TrainingResult trained,
                            Train(set, Options(10)));
  TrainingOptions options = Options(0);
  options.initial_weights = folder_ / "initial";
  options.search_trials = 0;
  std::filesystem::rename(options.weights_file, options.initial_weights);
  HONE_ASSERT_OK_AND_ASSIGN(const TrainingResult result, Train(set, options));
  EXPECT_EQ(result.best_validation, trained.best_validation);
  // Nothing but the file is new.
  const auto problem = testing::DelayedReward();
  const Game game(*problem->sequential());
  const View view = game.Observe(game.Start());
  const View* const views[] = {&view};
  HONE_ASSERT_OK_AND_ASSIGN(const auto before,
                            ReadModel(options.initial_weights, game.spec()));
  HONE_ASSERT_OK_AND_ASSIGN(const auto after,
                            ReadModel(options.weights_file, game.spec()));
  EXPECT_EQ(after->Score(views)[0].scores, before->Score(views)[0].scores);
  EXPECT_EQ(after->Score(views)[0].value, before->Score(views)[0].value);
  // Training goes on from them without imitating anything, too.
  options.updates = 1;
  HONE_EXPECT_OK(Train(set, options));
  options.initial_weights = folder_ / "missing";
  EXPECT_THAT(Train(set, options),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("missing")));
}

TEST_F(TrainingTest, RefusesTheStateOfAnotherTraining) {
  TrainingOptions options = Options(10);
  options.on_progress = [&](const TrainingProgress&) {
    std::filesystem::copy_file(
        options.state_file, folder_ / "kept",
        std::filesystem::copy_options::overwrite_existing);
  };
  HONE_ASSERT_OK(Train(SetOf(testing::DelayedReward), options));
  options.state_file = folder_ / "kept";
  options.seed = 5;
  EXPECT_THAT(Train(SetOf(testing::DelayedReward), options),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("belongs to a training on other problems")));
  // Lists in lists, deeper than a parser's stack, and a byte that was lost.
  std::string cut;
  {
    std::ifstream in(options.state_file, std::ios::binary);
    cut.assign(std::istreambuf_iterator<char>(in), {});
    cut.pop_back();
  }
  for (const std::string& bytes :
       {std::string("garbage"), std::string(5'000'000, '\x81'), cut}) {
    std::ofstream(options.state_file, std::ios::binary) << bytes;
    EXPECT_THAT(Train(SetOf(testing::DelayedReward), options),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("not the state of a training")));
  }
}

TEST_F(TrainingTest, RefusesAnEmptySet) {
  EXPECT_THAT(Train({}, Options(1)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no")));
}

}  // namespace
}  // namespace hone::optimizers::policies
