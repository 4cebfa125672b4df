#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

void ExpectMoves(const char* before, const char* after) {
  ExpectEntryRewrites("reshape-mover", before, after);
}
void ExpectKept(const char* body) {
  ExpectEntryUnchanged("reshape-mover", body);
}

TEST(ReshapeMover, SinksReshapesOfAllOperands) {
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

TEST(ReshapeMover, SinksTransposes) {
  ExpectMoves(R"(
  p = f32[2,3,4] parameter(0)
  q = f32[2,3,4] parameter(1)
  a = f32[4,2,3] transpose(p), dimensions={2,0,1}
  b = f32[4,2,3] transpose(q), dimensions={2,0,1}
  ROOT r = pred[4,2,3] compare(a, b), direction=LT)",
              R"(
  p = f32[2,3,4] parameter(0)
  q = f32[2,3,4] parameter(1)
  s = pred[2,3,4] compare(p, q), direction=LT
  ROOT r = pred[4,2,3] transpose(s), dimensions={2,0,1})");
}

TEST(ReshapeMover, GivesScalarBroadcastsAndConstantsAnotherForm) {
  ExpectMoves(R"(
  p = f32[2,3] parameter(0)
  s = f32[] parameter(1)
  a = f32[6] reshape(p)
  b = f32[6] broadcast(s), dimensions={}
  c = f32[6] constant({1,2,3,4,5,6})
  ROOT r = f32[6] clamp(b, a, c))",
              R"(
  p = f32[2,3] parameter(0)
  s = f32[] parameter(1)
  b = f32[6] broadcast(s), dimensions={}
  c = f32[6] constant({1,2,3,4,5,6})
  bs = f32[2,3] reshape(b)
  cs = f32[2,3] reshape(c)
  m = f32[2,3] clamp(bs, p, cs)
  ROOT r = f32[6] reshape(m))");
}

TEST(ReshapeMover, TransposesBroadcastsThatStayInOrder) {
  ExpectMoves(R"(
  p = f32[2,3,4] parameter(0)
  s = f32[2,3] parameter(1)
  a = f32[4,2,3] transpose(p), dimensions={2,0,1}
  b = f32[4,2,3] broadcast(s), dimensions={1,2}
  ROOT r = f32[4,2,3] add(a, b))",
              R"(
  p = f32[2,3,4] parameter(0)
  s = f32[2,3] parameter(1)
  b = f32[4,2,3] broadcast(s), dimensions={1,2}
  bs = f32[2,3,4] transpose(b), dimensions={1,2,0}
  m = f32[2,3,4] add(p, bs)
  ROOT r = f32[4,2,3] transpose(m), dimensions={2,0,1})");
  ExpectKept(R"(
  p = f32[2,3,4] parameter(0)
  s = f32[4,2] parameter(1)
  a = f32[4,2,3] transpose(p), dimensions={2,0,1}
  b = f32[4,2,3] broadcast(s), dimensions={0,1}
  ROOT r = f32[4,2,3] add(a, b))");
}

TEST(ReshapeMover, MovesAllUsersOfAReshapeOrNone) {
  ExpectMoves(R"(
  p = f32[2,3] parameter(0)
  a = f32[6] reshape(p)
  x = f32[6] tanh(a)
  y = f32[6] cosine(a)
  ROOT t = (f32[6], f32[6]) tuple(x, y))",
              R"(
  p = f32[2,3] parameter(0)
  x = f32[2,3] tanh(p)
  y = f32[2,3] cosine(p)
  xs = f32[6] reshape(x)
  ys = f32[6] reshape(y)
  ROOT t = (f32[6], f32[6]) tuple(xs, ys))");
  // The tuple keeps a, so x stays, so b stays, and y with it.
  ExpectKept(R"(
  p = f32[2,3] parameter(0)
  q = f32[2,3] parameter(1)
  a = f32[6] reshape(p)
  b = f32[6] reshape(q)
  x = f32[6] add(a, b)
  y = f32[6] cosine(b)
  ROOT t = (f32[6], f32[6], f32[6]) tuple(x, y, a))");
}

TEST(ReshapeMover, KeepsUnlikeOperands) {
  ExpectKept(R"(
  p = f32[2,3] parameter(0)
  q = f32[3,2] parameter(1)
  a = f32[6] reshape(p)
  b = f32[6] reshape(q)
  ROOT r = f32[6] add(a, b))");
  // A parameter would need a reshape of its own.
  ExpectKept(R"(
  p = f32[2,3] parameter(0)
  q = f32[6] parameter(1)
  a = f32[6] reshape(p)
  ROOT r = f32[6] add(a, q))");
  // A scalar predicate has one form only.
  ExpectKept(R"(
  c = pred[] parameter(0)
  p = f32[2,3] parameter(1)
  q = f32[2,3] parameter(2)
  a = f32[6] reshape(p)
  b = f32[6] reshape(q)
  ROOT r = f32[6] select(c, a, b))");
}

// The transpose that takes the place of the first operation has its sharding,
// and is none that could take over the second transpose's.
TEST(ReshapeMover, KeepsEverySharding) {
  ExpectMoves(R"(
  p = f32[2,3] parameter(0)
  q = f32[4,5] parameter(1)
  a = f32[3,2] transpose(p), dimensions={1,0}
  b = f32[5,4] transpose(q), dimensions={1,0}, sharding={replicated}
  x = f32[3,2] negate(a), sharding={replicated}
  y = f32[5,4] negate(b)
  ROOT t = (f32[3,2], f32[5,4]) tuple(x, y))",
              R"(
  p = f32[2,3] parameter(0)
  q = f32[4,5] parameter(1)
  n = f32[2,3] negate(p)
  b = f32[5,4] transpose(q), dimensions={1,0}, sharding={replicated}
  x = f32[3,2] transpose(n), dimensions={1,0}, sharding={replicated}
  y = f32[5,4] negate(b)
  ROOT t = (f32[3,2], f32[5,4]) tuple(x, y))");
}

TEST(ReshapeMover, LeavesReshapesOfConstantsToFolding) {
  ExpectKept(R"(
  c = f32[2,3] constant({{1,2,3},{4,5,6}})
  a = f32[6] reshape(c)
  ROOT r = f32[6] tanh(a))");
}

// The dot keeps the last reshape, which keeps the addition that reads it, which
// keeps the reshape before, and so on to the first.
TEST(ReshapeMover, KeepsALongChainThatSharesItsEnd) {
  constexpr int kLength = 50'000;
  std::string body;
  std::string results;
  std::string types;
  for (int i = 0; i <= kLength; ++i) {
    absl::StrAppend(&body, "p", i, " = f32[8] parameter(", i, ")\nr", i,
                    " = f32[2,4] reshape(p", i, ")\n");
  }
  for (int i = 0; i < kLength; ++i) {
    absl::StrAppend(&body, "a", i, " = f32[2,4] add(r", i, ", r", i + 1, ")\n");
    absl::StrAppend(&results, "a", i, ", ");
    absl::StrAppend(&types, "f32[2,4], ");
  }
  absl::StrAppend(&body, "d = f32[2,4] dot(r", kLength, ", r", kLength,
                  "), lhs_batch_dims={0,1}, rhs_batch_dims={0,1}\nROOT t = (",
                  types, "f32[2,4]) tuple(", results, "d)");
  ExpectEntryUnchanged("reshape-mover", body);
}

}  // namespace
}  // namespace hone::hlo
