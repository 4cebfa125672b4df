// The same training makes the same weights, byte for byte, whatever interrupts
// it: on small problems of the real kinds.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "graphs/generated_graph.h"
#include "hlo/analysis/op_count.h"
#include "optimizers/policies/training.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_modules.h"
#include "tuning/tasks/pass_order_problem.h"
#include "tuning/tasks/placement_problem.h"

namespace hone::optimizers::policies {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

using MadeProblem = absl::StatusOr<std::unique_ptr<space::Problem>>;

// Something for algsimp, reshape-mover and dce.
constexpr absl::string_view kMore = R"(
HloModule more

ENTRY main {
  x = f32[6] parameter(0)
  one = f32[] constant(1)
  ones = f32[6] broadcast(one), dimensions={}
  same = f32[6] multiply(x, ones)
  rows = f32[2,3] reshape(same)
  flat = f32[6] reshape(rows)
  unused = f32[6] negate(flat)
  twice = f32[6] add(flat, flat)
  ROOT result = f32[6] multiply(twice, twice)
}
)";

MadeProblem MakePassOrder(uint64_t number) {
  tuning::PassOrderOptions options;
  options.unit = "ops";
  options.score = [](const hlo::Module& module) {
    return static_cast<double>(hlo::CountOps(module));
  };
  options.passes = {"algsimp", "cse", "dce", "reshape-mover"};
  options.max_steps = 8;
  return std::make_unique<tuning::PassOrderProblem>(
      tuning::ParseOrDie(number % 2 == 0 ? tuning::kSimplifiable : kMore),
      std::move(options));
}

MadeProblem MakePlacement(uint64_t number) {
  return tuning::PlacementProblem::Create(
      graphs::GenerateDeviceGraph(number, 30), graphs::Contiguity::kPipeline);
}

struct Kind {
  std::string name;
  MadeProblem (*make)(uint64_t number);
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class ReproducibilityTest : public ::testing::TestWithParam<Kind> {
 protected:
  ReproducibilityTest()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                absl::StrCat("reproducibility_", getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~ReproducibilityTest() override { std::filesystem::remove_all(folder_); }

  // Problems that can be made `left` times, all in all.
  TrainingSet Set(int64_t left) {
    left_ = left;
    TrainingSet set;
    for (uint64_t number = 0; number < 4; ++number) {
      TrainingProblem problem;
      problem.name = absl::StrCat("problem", number);
      problem.make = [this, number]() -> MadeProblem {
        if (left_-- <= 0) return absl::UnavailableError("interrupted");
        if (number == 3 && stops_at_end_ && State()["update"] == kUpdates) {
          return absl::UnavailableError("interrupted at the end");
        }
        return GetParam().make(number);
      };
      (number < 3 ? set.training : set.validation)
          .push_back(std::move(problem));
    }
    return set;
  }
  TrainingSet Uninterrupted() {
    return Set(std::numeric_limits<int64_t>::max());
  }

  TrainingOptions Options() const {
    TrainingOptions options;
    options.seed = 3;
    options.architecture = "width=8,layers=1";
    options.search_trials = 12;
    options.label_rounds = 2;
    options.problems_per_update = 2;
    options.episodes_per_problem = 3;
    // Beyond the first validation among them.
    options.updates = kUpdates;
    options.weights_file = folder_ / "weights";
    options.state_file = folder_ / "state";
    return options;
  }

  // The weights, which are removed.
  std::string Take() const {
    const std::string path = Options().weights_file;
    std::ifstream in(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    std::filesystem::remove(path);
    return bytes;
  }

  // The state of the training, but for its time, and for that of the gradient
  // descent, which Torch writes by addresses; null if there is none.
  nlohmann::json State() const {
    std::ifstream in(Options().state_file, std::ios::binary);
    if (!in) return nullptr;
    // After a digest of as many characters.
    nlohmann::json state = nlohmann::json::from_cbor(
        std::string{std::istreambuf_iterator<char>(in), {}}.substr(64));
    state.erase("seconds");
    state.erase("gradient_descent");
    return state;
  }

  // Goes on to the end, all but the last validation. The weights that are kept
  // may be those of an earlier one, so that they tell less than this state.
  nlohmann::json FinalState() {
    stops_at_end_ = true;
    EXPECT_THAT(Train(Uninterrupted(), Options()),
                StatusIs(absl::StatusCode::kUnavailable,
                         HasSubstr("interrupted at the end")));
    stops_at_end_ = false;
    return State();
  }

  static constexpr int64_t kUpdates = 12;

  const std::filesystem::path folder_;
  std::atomic<int64_t> left_ = 0;
  std::atomic<bool> stops_at_end_ = false;
};

TEST_P(ReproducibilityTest, TheSameSeedMakesTheSameBytes) {
  TrainingOptions options = Options();
  HONE_ASSERT_OK(Train(Uninterrupted(), options));
  const std::string bytes = Take();
  ASSERT_FALSE(bytes.empty());
  HONE_ASSERT_OK(Train(Uninterrupted(), options));
  EXPECT_TRUE(Take() == bytes);
  options.seed = 4;
  HONE_ASSERT_OK(Train(Uninterrupted(), options));
  EXPECT_FALSE(Take() == bytes);
}

TEST_P(ReproducibilityTest, InterruptionsDoNotShow) {
  const TrainingOptions options = Options();
  const nlohmann::json state = FinalState();
  const int64_t made = std::numeric_limits<int64_t>::max() - left_;
  ASSERT_GT(made, 30);
  HONE_ASSERT_OK(Train(Uninterrupted(), options));
  const std::string bytes = Take();
  ASSERT_FALSE(bytes.empty());
  // In the search for a teacher, in rounds, in every update and while
  // validating: each makes two problems or more, but for the validations.
  for (int64_t at = 1; at < made; at += 2) {
    SCOPED_TRACE(absl::StrCat("after ", at, " of ", made, " problems"));
    EXPECT_THAT(
        Train(Set(at), options),
        StatusIs(absl::StatusCode::kUnavailable, HasSubstr("interrupted")));
    ASSERT_TRUE(FinalState() == state);
    HONE_ASSERT_OK(Train(Uninterrupted(), options));
    ASSERT_TRUE(Take() == bytes);
    EXPECT_FALSE(std::filesystem::exists(options.state_file));
  }
}

TEST_P(ReproducibilityTest, ManyInterruptionsDoNotShowEither) {
  const TrainingOptions options = Options();
  HONE_ASSERT_OK(Train(Uninterrupted(), options));
  const std::string bytes = Take();
  // Enough for the most that happens between two checkpoints.
  int runs = 1;
  while (!Train(Set(7), options).ok()) ASSERT_LT(++runs, 100);
  EXPECT_GT(runs, 5);
  EXPECT_TRUE(Take() == bytes);
}

INSTANTIATE_TEST_SUITE_P(All, ReproducibilityTest,
                         ::testing::Values(Kind{"PassOrder", MakePassOrder},
                                           Kind{"Placement", MakePlacement}),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace hone::optimizers::policies
