// Products that leave a loop, or whose matrices are rearranged in front of it.

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/ir/module.h"
#include "loops/lowering/prepare.h"
#include "loops/lowering/rewrites/sink_dots.h"
#include "tests/loops/lowering/lowered.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

using hlo::Opcode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns the shapes of the dots in the bodies of loops of the prepared module,
// in order.
std::vector<std::string> DotsInLoops(absl::string_view text) {
  const absl::StatusOr<hlo::Module> prepared =
      PrepareForLowering(ParseModule(text));
  EXPECT_TRUE(prepared.ok()) << prepared.status();
  std::vector<std::string> dots;
  if (!prepared.ok()) return dots;
  for (hlo::ComputationId id : prepared->ComputationPostOrder()) {
    if (id == prepared->entry()) continue;
    for (const hlo::Instruction& i : prepared->computation(id).instructions()) {
      if (i.opcode() == Opcode::kDot) dots.push_back(i.shape().ToString());
    }
  }
  absl::c_sort(dots);
  return dots;
}

// A loop over the rows of xs, COUNT of them, with a state h and a matrix w;
// STEP computes `next` from h, w, x, the row of xs at PLACE, and `i`, and
// `stored`, which becomes row PLACE of ys; `sum` is the next value of s.
std::string ScanText(
    absl::string_view step,
    const std::vector<std::pair<absl::string_view, absl::string_view>>&
        replacements = {}) {
  std::string text = absl::StrReplaceAll(ModuleText(R"(
  z = s32[] constant(0)
  h = f32[2,8] parameter(0)
  xs = f32[6,2,XSIZE] parameter(1)
  w = f32[WSIZES] parameter(2)
  ys = f32[6,YSIZES] parameter(3)
  s = f32[8,16] parameter(4)
  state = (s32[], f32[2,8], f32[6,2,XSIZE], f32[WSIZES], f32[6,YSIZES], f32[8,16]) tuple(z, h, xs, w, ys, s)
  l = (s32[], f32[2,8], f32[6,2,XSIZE], f32[WSIZES], f32[6,YSIZES], f32[8,16]) while(state), condition=more, body=step
  a = f32[2,8] get-tuple-element(l), index=1
  b = f32[6,YSIZES] get-tuple-element(l), index=4
  c = f32[8,16] get-tuple-element(l), index=5
  ROOT r = (f32[2,8], f32[6,YSIZES], f32[8,16]) tuple(a, b, c))",
                                                    R"(
step {
  state = (s32[], f32[2,8], f32[6,2,XSIZE], f32[WSIZES], f32[6,YSIZES], f32[8,16]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  h = f32[2,8] get-tuple-element(state), index=1
  xs = f32[6,2,XSIZE] get-tuple-element(state), index=2
  w = f32[WSIZES] get-tuple-element(state), index=3
  ys = f32[6,YSIZES] get-tuple-element(state), index=4
  s = f32[8,16] get-tuple-element(state), index=5
  one = s32[] constant(1)
  count = s32[] add(i, one)
  zero = s32[] constant(0)
  last = s32[] constant(5)
  back = s32[] subtract(last, i)
  part = f32[1,2,XSIZE] dynamic-slice(xs, PLACE, zero, zero), dynamic_slice_sizes={1,2,XSIZE}
  x = f32[2,XSIZE] reshape(part)
  STEP
  row = f32[1,YSIZES] reshape(stored)
  written = f32[6,YSIZES] dynamic-update-slice(ys, row, PLACE, zero, zero)
  ROOT new = (s32[], f32[2,8], f32[6,2,XSIZE], f32[WSIZES], f32[6,YSIZES], f32[8,16]) tuple(count, next, xs, w, written, sum)
}
more {
  state = (s32[], f32[2,8], f32[6,2,XSIZE], f32[WSIZES], f32[6,YSIZES], f32[8,16]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] constant(COUNT)
  ROOT c = pred[] compare(i, n), direction=LT
})"),
                                         {{"STEP", std::string(step)}});
  text = absl::StrReplaceAll(text, replacements);
  return absl::StrReplaceAll(text, {{"COUNT", "6"},
                                    {"PLACE", "i"},
                                    {"XSIZE", "8"},
                                    {"WSIZES", "8,8"},
                                    {"YSIZES", "2,8"}});
}

// The products of a row of 512 numbers with a matrix of ½ MiB.
constexpr absl::string_view kHoisted = R"(
  p = f32[2,256] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  q = f32[2,8] slice(p), slice={[0:2], [0:8]}
  next = f32[2,8] add(h, q)
  stored = f32[2,8] multiply(next, next)
  sum = f32[8,16] negate(s))";

std::string HoistedText(absl::string_view place = "i",
                        absl::string_view count = "6",
                        absl::string_view columns = "256") {
  return ScanText(kHoisted, {{"PLACE", place},
                             {"COUNT", count},
                             {"XSIZE", "512"},
                             {"256", columns},
                             {"WSIZES", absl::StrCat("512,", columns)}});
}

TEST(HoistDots, ProductsOfRowsOfAnInvariantArray) {
  for (absl::string_view place : {"i", "back"}) {
    const std::string text = HoistedText(place);
    EXPECT_THAT(DotsInLoops(text), IsEmpty());
    ExpectPlansRight(text);
  }
}

TEST(HoistDots, RowsOnTheRight) {
  const std::string text = ScanText(R"(
  p = f32[256,2] dot(w, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  q = f32[8,2] slice(p), slice={[0:8], [0:2]}
  t = f32[2,8] transpose(q), dimensions={1,0}
  next = f32[2,8] add(h, t)
  stored = f32[2,8] multiply(next, next)
  sum = f32[8,16] negate(s))",
                                    {{"XSIZE", "512"}, {"WSIZES", "256,512"}});
  EXPECT_THAT(DotsInLoops(text), IsEmpty());
  ExpectPlansRight(text);
}

TEST(HoistDots, APartOfWhatIsMultiplied) {
  const std::string text = ScanText(R"(
  both = f32[2,520] concatenate(x, h), dimensions={1}
  p = f32[2,256] dot(both, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  next = f32[2,8] slice(p), slice={[0:2], [0:8]}
  stored = f32[2,8] multiply(next, next)
  sum = f32[8,16] negate(s))",
                                    {{"XSIZE", "512"}, {"WSIZES", "520,256"}});
  // What is left has eight rows of the matrix.
  EXPECT_THAT(DotsInLoops(text), ElementsAre("f32[2,256]"));
  ExpectPlansRight(text);
}

TEST(HoistDots, NotThoseOfALoopThatMayEndEarly) {
  // Two of six rows.
  const std::string text = HoistedText("i", "2");
  EXPECT_THAT(DotsInLoops(text), ElementsAre("f32[2,256]"));
  ExpectPlansRight(text);
}

TEST(HoistDots, NotThoseOfSmallMatrices) {
  const std::string text = HoistedText("i", "6", "255");
  EXPECT_THAT(DotsInLoops(text), ElementsAre("f32[2,255]"));
  ExpectPlansRight(text);
}

TEST(HoistDots, NotThoseOfManyRows) {
  // 65 rows.
  const std::string text =
      absl::StrReplaceAll(HoistedText(), {{"f32[2,512]", "f32[65,512]"},
                                          {"f32[2,256]", "f32[65,256]"},
                                          {"f32[6,2,512]", "f32[6,65,512]"},
                                          {"f32[1,2,512]", "f32[1,65,512]"},
                                          {"{1,2,512}", "{1,65,512}"}});
  EXPECT_THAT(DotsInLoops(text), ElementsAre("f32[65,256]"));
}

constexpr absl::string_view kSummed = R"(
  next = f32[2,8] add(h, x)
  stored = f32[2,8] multiply(next, x)
  wide = f32[2,16] concatenate(next, h), dimensions={1}
  p = f32[8,16] dot(ROWS, wide), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  sum = f32[8,16] add(s, p))";

TEST(SinkDots, SumsOfProducts) {
  // A row that is read, one that is written, and one that is neither.
  for (absl::string_view rows : {"x", "stored", "h"}) {
    for (absl::string_view place : {"i", "back"}) {
      const std::string text =
          ScanText(kSummed, {{"ROWS", rows}, {"PLACE", place}});
      EXPECT_THAT(DotsInLoops(text), IsEmpty());
      ExpectPlansRight(text);
    }
  }
}

TEST(SinkDots, SumsOfTransposedProducts) {
  const std::string text = ScanText(R"(
  next = f32[2,8] add(h, x)
  stored = f32[2,8] multiply(next, x)
  wide = f32[2,16] concatenate(next, h), dimensions={1}
  p = f32[16,8] dot(wide, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  t = f32[8,16] transpose(p), dimensions={1,0}
  sum = f32[8,16] add(t, s))");
  EXPECT_THAT(DotsInLoops(text), IsEmpty());
  ExpectPlansRight(text);
}

TEST(SinkDots, NotSumsThatTheLoopReads) {
  const std::string text = ScanText(R"(
  d = f32[8,8] slice(s), slice={[0:8], [0:8]}
  e = f32[2,8] slice(d), slice={[0:2], [0:8]}
  next = f32[2,8] add(h, e)
  stored = f32[2,8] multiply(next, x)
  wide = f32[2,16] concatenate(next, h), dimensions={1}
  p = f32[8,16] dot(x, wide), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  sum = f32[8,16] add(s, p))");
  EXPECT_THAT(DotsInLoops(text), ElementsAre("f32[8,16]"));
  ExpectPlansRight(text);
}

TEST(SinkDots, NotSumsInPlacesThatRepeat) {
  // Six iterations write four rows.
  const std::string text = absl::StrReplaceAll(
      ScanText(kSummed, {{"ROWS", "x"}, {"PLACE", "some"}}),
      {{"part =",
        "three = s32[] constant(3)\n  some = s32[] minimum(i, "
        "three)\n  part ="}});
  EXPECT_THAT(DotsInLoops(text), ElementsAre("f32[8,16]"));
  ExpectPlansRight(text);
}

// Returns a loop of `count` such sums.
std::string ManySumsText(int count) {
  std::vector<std::string> state = {"s32[]", "f32[6,2,8]"};
  std::vector<std::string> initial = {"z", "xs"};
  std::vector<std::string> next = {"following", "xs"};
  std::string step;
  std::string results;
  std::vector<std::string> reads;
  for (int i = 0; i < count; ++i) {
    state.push_back("f32[8,8]");
    initial.push_back("zeros");
    next.push_back(absl::StrCat("n", i));
    absl::StrAppend(&step, "  y", i, " = f32[2,8] tanh(",
                    i == 0 ? "x" : absl::StrCat("y", i - 1), ")\n  s", i,
                    " = f32[8,8] get-tuple-element(state), index=", i + 2,
                    "\n  p", i, " = f32[8,8] dot(y", i,
                    ", x), lhs_contracting_dims={0}, "
                    "rhs_contracting_dims={0}\n  n",
                    i, " = f32[8,8] add(s", i, ", p", i, ")\n");
    reads.push_back(absl::StrCat("r", i));
    absl::StrAppend(&results, "  r", i,
                    " = f32[8,8] get-tuple-element(l), index=", i + 2, "\n");
  }
  return absl::StrReplaceAll(
      ModuleText(R"(
  z = s32[] constant(0)
  zero = f32[] constant(0)
  zeros = f32[8,8] broadcast(zero), dimensions={}
  xs = f32[6,2,8] parameter(0)
  state = STATE tuple(INITIAL)
  l = STATE while(state), condition=more, body=step
RESULTS  ROOT r = (SHAPES) tuple(READS))",
                 R"(
step {
  state = STATE parameter(0)
  i = s32[] get-tuple-element(state), index=0
  xs = f32[6,2,8] get-tuple-element(state), index=1
  one = s32[] constant(1)
  following = s32[] add(i, one)
  zero = s32[] constant(0)
  part = f32[1,2,8] dynamic-slice(xs, i, zero, zero), dynamic_slice_sizes={1,2,8}
  x = f32[2,8] reshape(part)
STEP  ROOT new = STATE tuple(NEXT)
}
more {
  state = STATE parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] constant(6)
  ROOT c = pred[] compare(i, n), direction=LT
})"),
      {{"STATE", absl::StrCat("(", absl::StrJoin(state, ", "), ")")},
       {"INITIAL", absl::StrJoin(initial, ", ")},
       {"NEXT", absl::StrJoin(next, ", ")},
       {"STEP", step},
       {"RESULTS", results},
       {"SHAPES",
        absl::StrJoin(std::vector<std::string>(reads.size(), "f32[8,8]"),
                      ", ")},
       {"READS", absl::StrJoin(reads, ", ")}});
}

// Each change of the state makes a tuple of all of it.
TEST(SinkDots, ChangesTheStateOnce) {
  const auto dead_slots = [](int sums) {
    hlo::Module module = ParseModule(ManySumsText(sums));
    HONE_EXPECT_OK(SinkDots(module));
    const hlo::Computation& entry = module.entry_computation();
    int64_t dots = 0;
    int64_t live = 0;
    for (const hlo::Instruction& i : entry.instructions()) {
      ++live;
      if (i.opcode() == Opcode::kDot) ++dots;
    }
    EXPECT_EQ(dots, sums);
    return entry.slot_count() - live;
  };
  // Reads of the sums that went.
  EXPECT_EQ(dead_slots(20) - dead_slots(10), 10);
  ExpectPlansRight(ManySumsText(4));
}

constexpr absl::string_view kStored = R"(
  next = f32[2,8] multiply(h, x)
  stored = f32[2,16] dot(next, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  sum = f32[8,16] negate(s))";

TEST(SinkDots, ProductsThatAreOnlyStored) {
  for (absl::string_view place : {"i", "back"}) {
    const std::string text = ScanText(
        kStored, {{"PLACE", place}, {"WSIZES", "8,16"}, {"YSIZES", "2,16"}});
    EXPECT_THAT(DotsInLoops(text), IsEmpty());
    ExpectPlansRight(text);
  }
}

// Then nothing is left of the loop.
TEST(SinkDots, ProductsThatAreAllOfTheResult) {
  const auto with_root = [](std::string text, absl::string_view root) {
    const size_t at = text.find("ROOT r =");
    const size_t end = text.find(")\n", text.find("tuple(a, b, c", at));
    return text.replace(at, end + 1 - at, absl::StrCat("ROOT r = ", root));
  };
  const std::string stored = with_root(
      ScanText(absl::StrReplaceAll(kStored, {{"multiply(h, x)", "add(h, x)"},
                                             {"dot(next", "dot(x"}}),
               {{"WSIZES", "8,16"}, {"YSIZES", "2,16"}}),
      "f32[6,2,16] negate(b)");
  EXPECT_THAT(DotsInLoops(stored), IsEmpty());
  ExpectPlansRight(stored);
  const std::string summed = with_root(ScanText(R"(
  next = f32[2,8] add(h, x)
  stored = f32[2,8] multiply(next, x)
  y = f32[2,16] concatenate(x, x), dimensions={1}
  p = f32[8,16] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  sum = f32[8,16] add(s, p))"),
                                       "f32[8,16] negate(c)");
  EXPECT_THAT(DotsInLoops(summed), IsEmpty());
  ExpectPlansRight(summed);
}

TEST(RewriteLoopsWithDots, LeavesEmptyProducts) {
  // No rows, nothing to sum, no columns.
  for (const auto& [rows, sums, columns] :
       {std::tuple(0, 8, 8), {2, 0, 8}, {2, 8, 0}}) {
    const std::string text =
        absl::StrReplaceAll(ScanText(R"(
  e = f32[ROWS,SUMS] iota(), iota_dimension=0
  p = f32[ROWS,COLUMNS] dot(e, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  zero.f = f32[] constant(0)
  q = f32[2,8] pad(p, zero.f), padding=0_LOWx0_RIGHT
  next = f32[2,8] add(h, q)
  stored = f32[2,8] multiply(next, x)
  sum = f32[8,16] negate(s))",
                                     {{"WSIZES", "SUMS,COLUMNS"}}),
                            {{"ROWS", absl::StrCat(rows)},
                             {"SUMS", absl::StrCat(sums)},
                             {"COLUMNS", absl::StrCat(columns)},
                             {"LOW", absl::StrCat(2 - rows)},
                             {"RIGHT", absl::StrCat(8 - columns)}});
    ExpectPlansRight(text);
  }
}

TEST(SinkDots, NotThoseOfALoopThatStoresSomeRows) {
  const std::string text = ScanText(
      kStored, {{"COUNT", "5"}, {"WSIZES", "8,16"}, {"YSIZES", "2,16"}});
  EXPECT_THAT(DotsInLoops(text), ElementsAre("f32[2,16]"));
  ExpectPlansRight(text);
}

TEST(SinkDots, SlicesThatAreOnlyStored) {
  const std::string text = ScanText(R"(
  p = f32[2,16] dot(h, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  stored = f32[2,8] slice(p), slice={[0:2], [0:8]}
  next = f32[2,8] slice(p), slice={[0:2], [8:16]}
  sum = f32[8,16] negate(s))",
                                    {{"WSIZES", "16,8"}});
  EXPECT_THAT(DotsInLoops(text), ElementsAre("f32[2,8]"));
  ExpectPlansRight(text);
}

}  // namespace
}  // namespace hone::loops
