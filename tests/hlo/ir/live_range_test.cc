#include "hlo/ir/live_range.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/ir/id_map.h"
#include "hlo/ir/module.h"

namespace hone::hlo {
namespace {

using ::testing::ElementsAre;

Instruction Number(int value) {
  return Instruction::Constant(Literal::Scalar(ElementType::kS32, value));
}

std::vector<InstructionId> Ids(const Computation& c) {
  std::vector<InstructionId> ids;
  for (const Instruction& i : c.instructions()) ids.push_back(i.id());
  return ids;
}

TEST(LiveRange, SkipsTheDead) {
  Computation c;
  for (int i = 0; i < 5; ++i) c.AddInstruction(Number(i));
  c.set_root(2);
  for (InstructionId dead : {0, 1, 4}) c.Remove(dead);
  EXPECT_THAT(Ids(c), ElementsAre(2, 3));
  EXPECT_FALSE(c.Contains(0));
  EXPECT_TRUE(c.Contains(3));
  EXPECT_FALSE(c.Contains(5));
  EXPECT_FALSE(c.Contains(kNoInstruction));
}

TEST(LiveRange, LetsALoopAddAndRemove) {
  Computation c;
  for (int i = 0; i < 3; ++i) c.AddInstruction(Number(i));
  c.set_root(0);
  std::vector<InstructionId> seen;
  for (const Instruction& i : c.instructions()) {
    seen.push_back(i.id());
    c.AddInstruction(Number(7));
    if (i.id() == 0) c.Remove(1);
  }
  EXPECT_THAT(seen, ElementsAre(0, 2));
}

TEST(LiveRange, IdsFollowCompaction) {
  Computation c;
  for (int i = 0; i < 3; ++i) c.AddInstruction(Number(i));
  c.set_root(2);
  c.Remove(0);
  c.Compact();
  EXPECT_THAT(Ids(c), ElementsAre(0, 1));
}

TEST(LiveRange, GoesOverComputations) {
  Module module;
  for (const char* name : {"a", "b", "c"}) {
    Computation c(name);
    c.set_root(c.AddInstruction(Number(0)));
    module.set_entry(module.AddComputation(std::move(c)));
  }
  Computation& entry = module.mutable_computation(module.entry());
  entry.mutable_instruction(entry.root()).set_called({0});
  ASSERT_TRUE(module.RemoveUnreachableComputations());
  std::vector<ComputationId> ids;
  for (const Computation& c : module.computations()) ids.push_back(c.id());
  EXPECT_THAT(ids, ElementsAre(0, 2));
  EXPECT_EQ(module.ComputationIds(), ids);
}

TEST(IdMap, GrowsWithItsIds) {
  IdMap<bool> map(true);
  map[3] = false;
  EXPECT_TRUE(map.at(2));
  EXPECT_FALSE(map.at(3));
  EXPECT_TRUE(map.at(100));
}

}  // namespace
}  // namespace hone::hlo
