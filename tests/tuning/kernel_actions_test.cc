#include "tuning/tasks/kernel_actions.h"

#include <limits>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "loops/schedules/choices.h"
#include "loops/transforms/registry.h"

namespace hone::tuning {
namespace {

using ::testing::ElementsAre;

std::vector<loops::Step> Splits(int count) {
  std::vector<loops::Step> steps;
  for (int i = 0; i < count; ++i) steps.push_back({"split", {0, i}, {2 + i}});
  return steps;
}

TEST(NumberSteps, GivesTheHashWhereItIsFree) {
  const std::vector<loops::Step> steps = Splits(100);
  const std::vector<int32_t> numbers = NumberSteps(steps, 1 << 26);
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(static_cast<uint64_t>(numbers[i]),
              HashOfStep(steps[i], 0) % (1 << 26));
  }
}

TEST(NumberSteps, LaterStepsOfOneHashGetNumbersOfTheirOwn) {
  // The second and third have the hash of the first; the first two attempts of
  // the third are taken.
  const auto hash = [](const loops::Step& step, int attempt) -> uint64_t {
    const int32_t place = step.path[1];
    if (attempt == 0) return place < 3 ? 5 : 6;
    return 6 + static_cast<uint64_t>(attempt);
  };
  EXPECT_THAT(NumberSteps(Splits(4), 100, hash), ElementsAre(5, 7, 8, 6));
}

TEST(NumberSteps, NumbersAreDistinctHoweverFewThereAre) {
  const std::vector<int32_t> numbers = NumberSteps(Splits(50), 50);
  EXPECT_EQ(std::set<int32_t>(numbers.begin(), numbers.end()).size(), 50);
  EXPECT_EQ(NumberSteps(Splits(50), 50), numbers);
  for (const int32_t number : numbers) {
    EXPECT_GE(number, 0);
    EXPECT_LT(number, 50);
  }
}

TEST(HashOfStep, DistinguishesWhatAStepIsMadeOf) {
  const loops::Step step = {"split", {0, 1}, {16}};
  EXPECT_EQ(HashOfStep(step, 0), HashOfStep({"split", {0, 1}, {16}}, 0));
  for (const loops::Step& other :
       std::vector<loops::Step>{{"tile", {0, 1}, {16}},
                                {"split", {0}, {1, 16}},
                                {"split", {1, 0}, {16}},
                                {"split", {0, 1}, {1, 6}},
                                {"split", {0, 1}, {}}}) {
    EXPECT_NE(HashOfStep(step, 0), HashOfStep(other, 0));
  }
  EXPECT_NE(HashOfStep(step, 0), HashOfStep(step, 1));
  // Numbers live in databases: they must not change but with the space version.
  EXPECT_EQ(HashOfStep(step, 0), 12573625158514944483u);
}

TEST(KernelActions, LeaveNumbersForStoppingAndShareTheRest) {
  EXPECT_LT(KernelActionCount(), std::numeric_limits<int32_t>::max());
  EXPECT_FALSE(IsStepAction(LoweredAction()));
  EXPECT_TRUE(IsStepAction(LoweredAction() + 1));
  EXPECT_EQ(TransformOf(LoweredAction() + 1), 0);
  EXPECT_EQ(TransformOf(KernelActionCount() - 1),
            loops::AllTransforms().size() - 1);
  std::set<std::string> names;
  for (int32_t action = 0; action <= LoweredAction(); ++action) {
    EXPECT_TRUE(names.insert(KernelActionName(action)).second)
        << KernelActionName(action);
  }
  EXPECT_EQ(KernelActionName(LoweredAction() + 1),
            std::string(loops::AllTransforms()[0]->name()) + "#0000000");
}

}  // namespace
}  // namespace hone::tuning
