#include "hlo/ir/computation.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/analysis/fingerprint.h"
#include "hlo/inference/verifier.h"
#include "hlo/ir/module.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

ShapePtr Vector() { return Shape::Array(ElementType::kF32, {4}); }

Instruction Unary(Opcode opcode, InstructionId operand) {
  return Instruction(opcode, Vector(), {operand});
}

Instruction Add(InstructionId a, InstructionId b) {
  return Instruction(Opcode::kAdd, Vector(), {a, b});
}

TEST(Computation, ListsEveryUserOnce) {
  Computation c;
  const InstructionId p = c.AddInstruction(Instruction::Parameter(0, Vector()));
  const InstructionId a = c.AddInstruction(Add(p, p));
  const InstructionId b = c.AddInstruction(Add(p, a));
  EXPECT_THAT(c[p].users(), UnorderedElementsAre(a, b));
  c.ReplaceOperand(b, 0, a);
  EXPECT_THAT(c[p].users(), ElementsAre(a));
  EXPECT_THAT(c[a].users(), ElementsAre(b));
  c.SetOperands(a, {p});
  EXPECT_THAT(c[p].users(), ElementsAre(a));
}

TEST(Computation, ReplaceAllUsesMovesUsersControlEdgesAndRoot) {
  Computation c;
  const InstructionId p = c.AddInstruction(Instruction::Parameter(0, Vector()));
  const InstructionId a = c.AddInstruction(Unary(Opcode::kNegate, p));
  const InstructionId b = c.AddInstruction(Unary(Opcode::kAbs, a));
  const InstructionId sum = c.AddInstruction(Add(a, b));
  const InstructionId last = c.AddInstruction(Unary(Opcode::kSine, p));
  c.AddControlPredecessor(last, a);
  c.set_root(a);
  // `b` keeps using `a`.
  c.ReplaceAllUses(a, b);
  EXPECT_EQ(c.root(), b);
  EXPECT_THAT(c[a].users(), ElementsAre(b));
  EXPECT_THAT(c[b].users(), ElementsAre(sum));
  EXPECT_THAT(c[sum].operands(), ElementsAre(b, b));
  EXPECT_THAT(c.control_predecessors(last), ElementsAre(b));
}

TEST(Computation, PostOrderPutsOperandsAndControlPredecessorsFirst) {
  Computation c;
  const InstructionId p = c.AddInstruction(Instruction::Parameter(0, Vector()));
  const InstructionId late = c.AddInstruction(Unary(Opcode::kSine, p));
  const InstructionId root = c.AddInstruction(Unary(Opcode::kNegate, p));
  const InstructionId dead = c.AddInstruction(Unary(Opcode::kAbs, root));
  c.AddControlPredecessor(root, late);
  c.set_root(root);
  EXPECT_THAT(c.PostOrder(), ElementsAre(p, late, root, dead));
}

TEST(Computation, CompactRenumbersWithoutChangingTheMeaning) {
  HONE_ASSERT_OK_AND_ASSIGN(Module module, ParseHloText(R"(
HloModule m
ENTRY e {
  dead.1 = f32[] constant(1)
  q = f32[4] parameter(1)
  p = f32[4] parameter(0)
  dead.2 = f32[4] negate(p)
  a = f32[4] abs(p)
  b = f32[4] add(a, a), control-predecessors={q}
  dead.3 = f32[4] negate(b)
  ROOT r = f32[4] multiply(b, q)
})"));
  Computation& entry = module.mutable_computation(module.entry());
  for (InstructionId dead : {6, 3, 0}) entry.Remove(dead);
  const std::string before = Fingerprint(module);
  entry.Compact();
  EXPECT_EQ(entry.slot_count(), 5);
  EXPECT_EQ(entry.live_count(), 5);
  EXPECT_THAT(entry.LiveInstructions(), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(entry.parameters(), ElementsAre(1, 0));
  EXPECT_EQ(entry.root(), 4);
  EXPECT_EQ(entry[2].name(), "a");
  EXPECT_THAT(entry[2].users(), ElementsAre(3));
  EXPECT_THAT(entry[4].users(), IsEmpty());
  EXPECT_THAT(entry.control_predecessors(3), ElementsAre(0));
  HONE_EXPECT_OK(VerifyModule(module));
  EXPECT_EQ(Fingerprint(module), before);
}

}  // namespace
}  // namespace hone::hlo
