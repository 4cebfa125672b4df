// Rules on reductions, windows, slices and scatters, on every element type and
// with indices, windows and initial values of every kind.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "tests/hlo/passes/algsimp/rule_check.h"
#include "tests/hlo/passes/golden.h"

namespace hone::hlo {
namespace {

constexpr Numerics kStrict[] = {Numerics::kExact, Numerics::kReassociate};

// `body` with a region `op` of the opcode $O over element type $T.
std::string ModuleText(absl::string_view body, absl::string_view type,
                       absl::string_view opcode) {
  return absl::StrReplaceAll(
      absl::StrCat("HloModule m\nop {\n  a = $T[] parameter(0)\n"
                   "  b = $T[] parameter(1)\n  ROOT r = $T[] $O(a, b)\n}\n"
                   "ENTRY e {\n",
                   body, "\n}\n"),
      {{"$T", type}, {"$O", opcode}});
}

std::vector<std::string> OpcodesOf(const std::string& type) {
  if (type == "pred") return {"and", "or", "add", "multiply", "maximum"};
  if (type[0] == 'c') return {"add", "multiply"};
  if (type[0] == 'f' || type[0] == 'b') {
    return {"add", "multiply", "maximum", "minimum"};
  }
  return {"add", "multiply", "maximum", "minimum", "and", "or", "xor"};
}

// Runs `body`, in which $I is an initial value or padding and $J another, for
// every type, operation and pair of values; of those only the moderate ones
// where the order of a reduction, which HLO leaves open, decides over infinity.
void CheckReductions(absl::string_view body, bool has_j = false,
                     bool moderate = false) {
  bool applies = false;
  std::vector<TypeUnderTest> types = TypesUnderTest("fcip");
  for (TypeUnderTest& type : types) {
    if (type.name == "f8e8m0fnu") continue;
    if (moderate && type.values.size() > 5) type.values.resize(5);
    for (const std::string& opcode : OpcodesOf(type.name)) {
      for (const std::string& i : type.values) {
        const std::vector<std::string> one = {"0"};
        for (const std::string& j : has_j ? type.values : one) {
          const std::string text = absl::StrReplaceAll(
              ModuleText(body, type.name, opcode), {{"$I", i}, {"$J", j}});
          const std::vector<Literal> arguments =
              SmallArguments(ParseForTest(text), 3);
          for (Numerics numerics : kStrict) {
            applies |= ExpectSameValues(text, numerics, arguments);
            if (::testing::Test::HasFailure()) return;
          }
        }
      }
    }
  }
  EXPECT_TRUE(applies) << body;
}

TEST(AlgsimpProperties, ReductionsOfOnes) {
  CheckReductions(R"(
  p = $T[3,1,2] parameter(0)
  i = $T[] constant($I)
  ROOT r = $T[3,2] reduce(p, i), dimensions={1}, to_apply=op)");
}

TEST(AlgsimpProperties, ReductionsOfNothing) {
  CheckReductions(R"(
  p = $T[3,0,2] parameter(0)
  i = $T[] constant($I)
  ROOT r = $T[3,2] reduce(p, i), dimensions={1}, to_apply=op)");
}

TEST(AlgsimpProperties, ReductionsOfMovedArrays) {
  CheckReductions(R"(
  p = $T[2,3,2] parameter(0)
  t = $T[2,2,3] transpose(p), dimensions={2,0,1}
  i = $T[] constant($I)
  ROOT r = $T[2] reduce(t, i), dimensions={0,2}, to_apply=op)",
                  false, true);
  CheckReductions(R"(
  p = $T[2,1,3,2] parameter(0)
  t = $T[2,6,1] reshape(p)
  i = $T[] constant($I)
  ROOT r = $T[2,1] reduce(t, i), dimensions={1}, to_apply=op)",
                  false, true);
  CheckReductions(R"(
  p = $T[2,1,3] parameter(0)
  i = $T[] constant($I)
  s = $T[2,1] reduce(p, i), dimensions={2}, to_apply=op
  ROOT r = $T[2] reshape(s))",
                  false, true);
}

TEST(AlgsimpProperties, ReductionsOfReductions) {
  CheckReductions(R"(
  p = $T[2,3,2] parameter(0)
  i = $T[] constant($I)
  j = $T[] constant($J)
  s = $T[2,2] reduce(p, i), dimensions={1}, to_apply=op
  ROOT r = $T[2] reduce(s, j), dimensions={1}, to_apply=op)",
                  true);
}

TEST(AlgsimpProperties, ReductionsOfBroadcasts) {
  CheckReductions(R"(
  p = $T[2] parameter(0)
  b = $T[3,2] broadcast(p), dimensions={1}
  i = $T[] constant($I)
  ROOT r = $T[2] reduce(b, i), dimensions={0}, to_apply=op)");
  CheckReductions(R"(
  j = $T[] constant($J)
  b = $T[5,2] broadcast(j), dimensions={}
  i = $T[] constant($I)
  ROOT r = $T[2] reduce(b, i), dimensions={0}, to_apply=op)",
                  true);
}

TEST(AlgsimpProperties, WindowsOverPaddedArrays) {
  struct Case {
    const char* window;
    int size;
  };
  for (const auto& [window, size] :
       {Case{"size=3", 5}, Case{"size=2 stride=2 pad=1_0", 4},
        Case{"size=2 lhs_dilate=2", 12}, Case{"size=2 rhs_dilate=2", 5}}) {
    SCOPED_TRACE(window);
    CheckReductions(absl::StrCat(R"(
  p = $T[4] parameter(0)
  j = $T[] constant($J)
  x = $T[7] pad(p, j), padding=1_2
  i = $T[] constant($I)
  ROOT r = $T[)",
                                 size, "] reduce-window(x, i), window={",
                                 window, "}, to_apply=op"),
                    true);
  }
  CheckReductions(R"(
  p = $T[4,3] parameter(0)
  i = $T[] constant($I)
  ROOT r = $T[4,3] reduce-window(p, i), window={size=1x1}, to_apply=op)");
}

TEST(AlgsimpProperties, SumsIntoScatters) {
  for (const char* unique : {"", ", unique_indices=true"}) {
    for (const char* indices : {"3", "1"}) {
      const std::string body =
          absl::StrCat(R"(
  x = $T[8,2] parameter(0)
  k = s32[)",
                       indices, R"(] iota(), iota_dimension=0
  u = $T[)",
                       indices, R"(,2] parameter(1)
  zero = $T[] constant($I)
  zeros = $T[8,2] broadcast(zero), dimensions={}
  s = $T[8,2] scatter(zeros, k, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=op)",
                       unique, R"(
  ROOT r = $T[8,2] $O(x, s))");
      CheckReductions(body);
    }
  }
}

// Start indices of every type, in and out of bounds.
TEST(AlgsimpProperties, ConstantStartIndices) {
  for (const TypeUnderTest& type : TypesUnderTest("i")) {
    if (type.name.size() < 3 && type.name[1] == '4') continue;
    for (const std::string& start : type.values) {
      const auto check = [&](absl::string_view body) {
        const std::string text = absl::StrReplaceAll(
            absl::StrCat("HloModule m\nENTRY e {\n", body, "\n}\n"),
            {{"$T", type.name}, {"$I", start}});
        EXPECT_TRUE(ExpectSameValues(text, Numerics::kExact,
                                     SmallArguments(ParseForTest(text), 5)));
      };
      check(R"(
  x = s32[5,4] parameter(0)
  i = $T[] constant($I)
  j = $T[] parameter(1)
  ROOT r = s32[2,4] dynamic-slice(x, i, j), dynamic_slice_sizes={2,4})");
      check(R"(
  u = s32[2,4] parameter(0)
  v = s32[] parameter(1)
  x = s32[5,4] broadcast(v), dimensions={}
  i = $T[] constant($I)
  j = $T[] parameter(2)
  ROOT r = s32[5,4] dynamic-update-slice(x, u, i, j))");
    }
  }
}

// Slices of slices, to nothing and with long steps.
TEST(AlgsimpProperties, SlicesOfSlices) {
  struct Case {
    const char* slice;
    int size;
  };
  for (const auto& [slice, size] :
       {Case{"3:3", 0}, Case{"0:0", 0}, Case{"1:3", 2}, Case{"0:3:2", 2},
        Case{"2:3:4611686018427387904", 1}}) {
    const std::string text = absl::StrCat(
        "HloModule m\nENTRY e {\n  p = s32[5] parameter(0)\n"
        "  a = s32[3] slice(p), slice={[0:5:2]}\n  ROOT r = s32[",
        size, "] slice(a), slice={[", slice, "]}\n}\n");
    EXPECT_TRUE(ExpectSameValues(text, Numerics::kExact,
                                 SmallArguments(ParseForTest(text), 5)))
        << slice;
  }
}

}  // namespace
}  // namespace hone::hlo
