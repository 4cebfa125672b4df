#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"
#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

void ExpectMoves(const char* before, const char* after) {
  ExpectEntryRewrites("reshape-group-mover", before, after);
}
void ExpectKept(const char* body) {
  ExpectEntryUnchanged("reshape-group-mover", body);
}

TEST(ReshapeGroupMover, SinksReshapesOfAllOperands) {
  ExpectMoves(R"(
  p = f32[2,3] parameter(0)
  q = f32[2,3] parameter(1)
  a = f32[6] reshape(p)
  b = f32[6] reshape(q)
  ROOT r = f32[6] add(a, b))",
              R"(
  p = f32[2,3] parameter(0)
  q = f32[2,3] parameter(1)
  s = f32[2,3] add(p, q)
  ROOT r = f32[6] reshape(s))");
}

TEST(ReshapeGroupMover, SinksTransposes) {
  ExpectMoves(R"(
  p = f32[2,3] parameter(0)
  q = f32[2,3] parameter(1)
  a = f32[3,2] transpose(p), dimensions={1,0}
  b = f32[3,2] transpose(q), dimensions={1,0}
  ROOT r = f32[3,2] add(a, b))",
              R"(
  p = f32[2,3] parameter(0)
  q = f32[2,3] parameter(1)
  s = f32[2,3] add(p, q)
  ROOT r = f32[3,2] transpose(s), dimensions={1,0})");
}

TEST(ReshapeGroupMover, MovesAGroupWhoseUsersAbsorbTheReshape) {
  ExpectMoves(R"(
  p = f32[2,16] parameter(0)
  a = f32[2,16,1] reshape(p)
  c = f32[] constant(3)
  cs = f32[2,16,1] broadcast(c), dimensions={}
  b = f32[2,16,1] divide(a, cs)
  d = f32[2,16,1] rsqrt(b)
  e = f32[2,16] reshape(d)
  ROOT r = f32[2,16,4] broadcast(e), dimensions={0,1})",
              R"(
  p = f32[2,16] parameter(0)
  c = f32[] constant(3)
  cs = f32[2,16] broadcast(c), dimensions={}
  b = f32[2,16] divide(p, cs)
  d = f32[2,16] rsqrt(b)
  ROOT r = f32[2,16,4] broadcast(d), dimensions={0,1})");
}

TEST(ReshapeGroupMover, LeavesAGroupWhereItIsWhenItsUsersMove) {
  ExpectMoves(R"(
  p = f32[] parameter(0)
  q = f32[6] parameter(1)
  a = f32[6] broadcast(p), dimensions={}
  b = f32[6] power(a, q)
  c = f32[2,3] reshape(q)
  d = f32[2,3] reshape(b)
  ROOT r = f32[2,3] subtract(c, d))",
              R"(
  p = f32[] parameter(0)
  q = f32[6] parameter(1)
  a = f32[6] broadcast(p), dimensions={}
  b = f32[6] power(a, q)
  s = f32[6] subtract(q, b)
  ROOT r = f32[2,3] reshape(s))");
}

TEST(ReshapeGroupMover, KeepsWhatWouldNotPay) {
  // One reshape in, one reshape out.
  ExpectKept(R"(
  p = f32[2,3] parameter(0)
  a = f32[6] reshape(p)
  ROOT r = f32[6] tanh(a))");
  // The other operand would need a reshape.
  ExpectKept(R"(
  p = f32[2,3] parameter(0)
  q = f32[6] parameter(1)
  a = f32[6] reshape(p)
  ROOT r = f32[6] add(a, q))");
}

TEST(ReshapeGroupMover, WeighsGroupsThatShareABroadcastTogether) {
  // Each group alone would trade a reshape for a broadcast.
  ExpectMoves(R"(
  p = f32[4,1] parameter(0)
  q = f32[4,1] parameter(1)
  c = f32[] constant(3)
  zero = f32[] constant(0)
  cs = f32[4] broadcast(c), dimensions={}
  a = f32[4] reshape(p)
  b = f32[4] reshape(q)
  d = f32[4] multiply(a, cs)
  e = f32[4] power(b, cs)
  g = f32[] reduce(d, zero), dimensions={0}, to_apply=sum
  h = f32[] reduce(e, zero), dimensions={0}, to_apply=sum
  ROOT t = (f32[], f32[], f32[4]) tuple(g, h, cs))",
              R"(
  p = f32[4,1] parameter(0)
  q = f32[4,1] parameter(1)
  c = f32[] constant(3)
  zero = f32[] constant(0)
  cs = f32[4] broadcast(c), dimensions={}
  ds = f32[4,1] broadcast(c), dimensions={}
  d = f32[4,1] multiply(p, ds)
  e = f32[4,1] power(q, ds)
  g = f32[] reduce(d, zero), dimensions={0,1}, to_apply=sum
  h = f32[] reduce(e, zero), dimensions={0,1}, to_apply=sum
  ROOT t = (f32[], f32[], f32[4]) tuple(g, h, cs))");
}

// The sum would add in another order.
TEST(ReshapeGroupMover, LeavesSumsOfFloatsWhenExact) {
  const auto body = [](const char* type) {
    return absl::StrReplaceAll(R"(
HloModule m
sum {
  a = $T[] parameter(0)
  b = $T[] parameter(1)
  ROOT r = $T[] add(a, b)
}
ENTRY e {
  x = $T[97,89] parameter(0)
  y = $T[97,89] parameter(1)
  tx = $T[89,97] transpose(x), dimensions={1,0}
  ty = $T[89,97] transpose(y), dimensions={1,0}
  s = $T[89,97] add(tx, ty)
  z = $T[] constant(0)
  ROOT r = $T[] reduce(s, z), dimensions={0,1}, to_apply=sum
})",
                               {{"$T", type}});
  };
  const RewriteOptions exact = {.numerics = Numerics::kExact};
  const auto reduce_after = [](const Module& module) {
    const Computation& entry = module.entry_computation();
    return entry[entry[entry.root()].operand(0)].opcode();
  };
  // One transpose is left in front of the sum.
  Module floats = ExpectKeepsMeaning("reshape-group-mover", body("f32"), exact);
  EXPECT_EQ(reduce_after(floats), Opcode::kTranspose);
  Module integers =
      ExpectKeepsMeaning("reshape-group-mover", body("s32"), exact);
  EXPECT_EQ(reduce_after(integers), Opcode::kAdd);
  Module permitted = ExpectKeepsMeaning("reshape-group-mover", body("f32"));
  EXPECT_EQ(reduce_after(permitted), Opcode::kAdd);
}

}  // namespace
}  // namespace hone::hlo
