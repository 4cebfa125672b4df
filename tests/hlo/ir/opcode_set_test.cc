#include "hlo/ir/opcode_set.h"

#include "gtest/gtest.h"

#include "hlo/ir/computation.h"
#include "hlo/ir/module.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

TEST(OpcodeSet, IsASet) {
  const OpcodeSet few = {Opcode::kAdd, Opcode::kWhile};
  EXPECT_TRUE(few.Contains(Opcode::kAdd));
  EXPECT_FALSE(few.Contains(Opcode::kSubtract));
  EXPECT_TRUE(few.Intersects({Opcode::kWhile, Opcode::kCall}));
  EXPECT_FALSE(few.Intersects({Opcode::kCall}));
  EXPECT_TRUE(few.IsSubsetOf(OpcodeSet::All()));
  EXPECT_FALSE(OpcodeSet::All().IsSubsetOf(few));
  EXPECT_TRUE(OpcodeSet().empty());
}

TEST(OpcodeSet, ComputationsKnowTheirOpcodes) {
  HONE_ASSERT_OK_AND_ASSIGN(Module module, ParseHloText(R"(HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  a = f32[2] abs(x)
  ROOT n = f32[2] negate(x)
})"));
  Computation& entry = module.mutable_computation(module.entry());
  EXPECT_TRUE(entry.opcodes().Contains(Opcode::kAbs));
  EXPECT_FALSE(entry.opcodes().Contains(Opcode::kAdd));
  entry.AddInstruction(Instruction(
      Opcode::kAdd, entry[entry.root()].shape_ptr(), {entry.root(), 0}));
  EXPECT_TRUE(entry.opcodes().Contains(Opcode::kAdd));
  entry.Remove(1);
  entry.Compact();
  EXPECT_FALSE(entry.opcodes().Contains(Opcode::kAbs));
  EXPECT_TRUE(entry.opcodes().Contains(Opcode::kAdd));
}

}  // namespace
}  // namespace hone::hlo
