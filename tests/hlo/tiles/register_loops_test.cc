#include "hlo/tiles/register_loops.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

class RegisterLoopsTest : public ::testing::Test {
 protected:
  const Computation& entry() const { return module_.entry_computation(); }
  const Instruction& Named(const std::string& name) const {
    for (const Instruction& instruction : entry().instructions()) {
      if (instruction.name() == name) return instruction;
    }
    ADD_FAILURE() << "no " << name;
    return entry()[entry().root()];
  }

  const Module module_ = *ParseHloText(R"(HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

ENTRY e {
  p = f32[64,512] parameter(0)
  q = f32[512,32] parameter(1)
  o = f32[64,512] parameter(2)
  u = f32[64,512] parameter(3)
  zero = f32[] constant(0)
  n = f32[64,512] negate(p)
  x = f32[64,512] exponential(p)
  y = f32[64,512] add(n, x)
  view = f32[64,512] bitcast(y)
  w = f32[64,512] add(o, u)
  z = f32[64,512] multiply(view, p)
  s = f32[64] reduce(z, zero), dimensions={1}, to_apply=add
  d = f32[64,32] dot(z, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT both = (f32[64], f32[64,32]) tuple(s, d)
})");
};

TEST_F(RegisterLoopsTest, WhatWorksRegisterByRegisterIsInALoop) {
  EXPECT_TRUE(IsInLoop(Named("n")));
  EXPECT_TRUE(IsInLoop(Named("s")));
  EXPECT_FALSE(IsInLoop(Named("d")));
  EXPECT_FALSE(IsInLoop(Named("p")));
  EXPECT_FALSE(IsInLoop(Named("both")));
}

TEST_F(RegisterLoopsTest, AReductionRunsInTheLoopOfItsOperand) {
  EXPECT_EQ(LoopDomain(Named("s")), Named("z").id());
  EXPECT_EQ(LoopDomain(Named("z")), Named("z").id());
}

TEST_F(RegisterLoopsTest, LoopsAreToldApartByDimensionsAndSizes) {
  const Region tile = {{{0, 16}, {128, 128}}, 16 * 128};
  EXPECT_EQ(LoopSizes(Named("n"), tile), LoopSizes(Named("x"), tile));
  EXPECT_NE(LoopSizes(Named("n"), tile), LoopSizes(Named("d"), tile));
  EXPECT_NE(LoopSizes(Named("n"), tile),
            LoopSizes(Named("n"), {{{0, 8}, {128, 128}}, 8 * 128}));
  EXPECT_TRUE(LoopSizes(Named("both"), {{}, 1}).empty());
  EXPECT_FALSE(LoopSizes(Named("zero"), {{}, 1}).empty());
}

TEST_F(RegisterLoopsTest, RegistersOfTheMinorDimensionsAreUnrolled) {
  const Region tile = {{{0, 24}, {0, 256}}, 24 * 256};
  EXPECT_EQ(UnpackedRegisters(Named("n"), tile), 6);
  EXPECT_EQ(LoopIterations(Named("n"), tile, 1), 6);
  EXPECT_EQ(LoopIterations(Named("n"), tile, 4), 2);
  EXPECT_EQ(LoopIterations(Named("n"), {{{0, 0}, {0, 256}}, 0}, 4), 0);
  EXPECT_EQ(LoopIterations(Named("both"), {{}, 1}, 4), 0);
}

TEST_F(RegisterLoopsTest, ValuesLiveUntilTheirLastUse) {
  const auto most = [this](const std::vector<std::string>& names) {
    std::vector<InstructionId> members;
    for (const std::string& name : names) members.push_back(Named(name).id());
    return MostLiveValues(entry(), members, [this](InstructionId id) {
      while (entry()[id].opcode() == Opcode::kBitcast) {
        id = entry()[id].operand(0);
      }
      return id;
    });
  };
  EXPECT_EQ(most({}), 0);
  EXPECT_EQ(most({"n"}), 2);
  EXPECT_EQ(most({"n", "x"}), 2);
  // p, n and x; p ends with x, unless z needs it.
  EXPECT_EQ(most({"n", "x", "y"}), 3);
  EXPECT_EQ(most({"n", "x", "y", "z"}), 4);
  // What has another name lives as long as that is used.
  EXPECT_EQ(most({"y", "w", "z"}), 4);
}

}  // namespace
}  // namespace hone::hlo
