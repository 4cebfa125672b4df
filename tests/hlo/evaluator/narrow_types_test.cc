// Sub-byte integers and narrow floats: what XLA:CPU (jax 0.10.2) computes at
// run time, bit for bit.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/evaluator/evaluator.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

// The elements of an entry's result as integers.
std::vector<int64_t> ResultOf(const std::string& lines) {
  const absl::StatusOr<Module> module =
      ParseHloText(absl::StrCat("HloModule m\n\nENTRY e {\n", lines, "\n}\n"));
  EXPECT_THAT(module, testing::IsOk()) << lines;
  if (!module.ok()) return {};
  const absl::StatusOr<Literal> result = Evaluate(*module, {});
  EXPECT_THAT(result, testing::IsOk()) << lines;
  std::vector<int64_t> values;
  if (!result.ok()) return values;
  for (int64_t i = 0; i < result->num_elements(); ++i) {
    values.push_back(result->AsInt(i));
  }
  return values;
}

struct IntegerCase {
  const char* opcode;
  const char* shape;
  std::vector<const char*> operands;
  std::vector<int64_t> expected;
};

TEST(NarrowTypes, SubByteIntegersComputeInTheirWidth) {
  const std::vector<IntegerCase> cases = {
      {"shift-right-logical",
       "s4[8]",
       {"{-8, -1, 7, -3, -8, -8, -1, -1}", "{1, 1, 1, 2, 3, 4, 7, -1}"},
       {4, 7, 3, 3, 1, 0, 0, 0}},
      {"shift-right-logical", "s2[3]", {"{-2, -1, 1}", "{1, 1, 1}"}, {1, 1, 0}},
      {"shift-right-arithmetic",
       "s4[6]",
       {"{-8, -1, 7, -3, -8, 7}", "{1, 5, 1, 2, -1, -8}"},
       {-4, -1, 3, -1, -1, 0}},
      {"shift-right-arithmetic",
       "u4[6]",
       {"{14, 15, 7, 5, 15, 7}", "{1, 2, 1, 0, 15, 4}"},
       {15, 15, 3, 5, 15, 0}},
      {"shift-left",
       "s4[5]",
       {"{-1, 7, -3, 7, 1}", "{1, 1, 2, 4, -1}"},
       {-2, -2, 4, 0, 0}},
      {"count-leading-zeros", "s4[5]", {"{0, 1, 7, -1, -8}"}, {4, 3, 1, 0, 0}},
      {"count-leading-zeros", "u4[4]", {"{0, 1, 7, 15}"}, {4, 3, 1, 0}},
      {"count-leading-zeros", "u2[4]", {"{0, 1, 2, 3}"}, {2, 1, 0, 0}},
      // XLA:CPU counts the extended sign of s4, not that of s2.
      {"popcnt", "s4[5]", {"{-8, -7, -2, 0, 7}"}, {5, 6, 7, 0, 3}},
      {"popcnt", "s2[4]", {"{-2, -1, 0, 1}"}, {1, -2, 0, 1}},
      {"popcnt", "u4[3]", {"{0, 7, 15}"}, {0, 3, 4}},
      {"not", "u4[3]", {"{0, 5, 15}"}, {15, 10, 0}},
      {"power", "s4[4]", {"{2, -2, 3, -1}", "{3, 3, 3, -3}"}, {-8, -8, -5, -1}},
      {"divide",
       "s4[4]",
       {"{7, -8, -8, 5}", "{2, -1, 3, -2}"},
       {3, -8, -2, -2}},
  };
  for (const IntegerCase& c : cases) {
    std::string lines;
    for (size_t i = 0; i < c.operands.size(); ++i) {
      absl::StrAppend(&lines, "  p", i, " = ", c.shape, " constant(",
                      c.operands[i], ")\n");
    }
    absl::StrAppend(&lines, "  ROOT r = ", c.shape, " ", c.opcode, "(p0",
                    c.operands.size() > 1 ? ", p1" : "", ")");
    EXPECT_EQ(ResultOf(lines), c.expected) << c.opcode << " " << c.shape;
  }
}

// XLA has no such instruction; the upper half is by definition.
TEST(NarrowTypes, MulhiGivesTheUpperHalf) {
  EXPECT_EQ(ResultOf("  a = s4[3] constant({7, -8, -8})\n"
                     "  b = s4[3] constant({7, 7, -8})\n"
                     "  ROOT r = s4[3] mulhi(a, b)"),
            std::vector<int64_t>({3, -4, 4}));
  EXPECT_EQ(ResultOf("  a = u4[2] constant({15, 4})\n"
                     "  b = u4[2] constant({15, 4})\n"
                     "  ROOT r = u4[2] mulhi(a, b)"),
            std::vector<int64_t>({14, 1}));
}

TEST(NarrowTypes, FloatsSaturateAtTheSubByteRange) {
  constexpr char kValues[] =
      "{100, -129, inf, 9, nan, -inf, -9, 7.9, -8.9, 8, -0.9, 15.5, 16}";
  for (const char* type : {"f32", "f64", "bf16", "f16"}) {
    const auto converted = [&](const std::string& to) {
      return ResultOf(absl::StrCat("  x = ", type, "[13] constant(", kValues,
                                   ")\n  ROOT r = ", to, "[13] convert(x)"));
    };
    EXPECT_EQ(converted("s4"),
              std::vector<int64_t>({7, -8, 7, 7, 0, -8, -8, 7, -8, 7, 0, 7, 7}))
        << type;
    EXPECT_EQ(converted("u4"),
              std::vector<int64_t>({15, 0, 15, 9, 0, 0, 0, 7, 0, 8, 0, 15, 15}))
        << type;
    EXPECT_EQ(converted("s2"),
              std::vector<int64_t>({1, -2, 1, 1, 0, -2, -2, 1, -2, 1, 0, 1, 1}))
        << type;
    EXPECT_EQ(converted("u2"),
              std::vector<int64_t>({3, 0, 3, 3, 0, 0, 0, 3, 0, 3, 0, 3, 3}))
        << type;
  }
  // Integers wrap.
  EXPECT_EQ(ResultOf("  x = s32[4] constant({100, -129, 9, 8})\n"
                     "  ROOT r = s4[4] convert(x)"),
            std::vector<int64_t>({4, -1, -7, -8}));
}

// The bits of values converted to a float format.
std::vector<int64_t> Bits(const std::string& from, const std::string& to,
                          int count, const std::string& values) {
  const std::string bits = to == "f16" || to == "bf16" ? "u16" : "u8";
  return ResultOf(absl::StrCat("  x = ", from, "[", count, "] constant(",
                               values, ")\n  y = ", to, "[", count,
                               "] convert(x)\n  ROOT r = ", bits, "[", count,
                               "] bitcast-convert(y)"));
}

TEST(NarrowTypes, DoublesRoundOnce) {
  EXPECT_EQ(Bits("f64", "f16", 4,
                 "{65519.999999999, 1.00048828125091, -65488.00000005956, "
                 "65520}"),
            std::vector<int64_t>({0x7bff, 0x3c01, 64511, 0x7c00}));
  EXPECT_EQ(
      Bits("f64", "f8e5m2", 3, "{-53248.00000004843, 1.1250000000001, 1.125}"),
      std::vector<int64_t>({251, 0x3d, 0x3c}));
  EXPECT_EQ(
      Bits("f64", "f8e4m3fn", 3, "{464.0000001, 464, -400.0000000003638}"),
      std::vector<int64_t>({0x7f, 0x7e, 253}));
  EXPECT_EQ(Bits("f64", "f8e4m3fnuz", 2, "{-232.000000000211, -232}"),
            std::vector<int64_t>({0xff, 0xfe}));
  // By way of f32, as XLA:CPU does.
  EXPECT_EQ(Bits("f64", "bf16", 2, "{1.003906250000001, 1.0039064}"),
            std::vector<int64_t>({0x3f80, 0x3f81}));
}

TEST(NarrowTypes, PowersOfTwoHaveNeitherSignNorZero) {
  EXPECT_EQ(Bits("f32", "f8e8m0fnu", 12,
                 "{-1, 0, -0.0, 3, 1.5, 2.9, 3.1, 1, 5.877472e-39, 3.4e38, "
                 "inf, 1.7014118e38}"),
            std::vector<int64_t>(
                {255, 255, 255, 129, 128, 128, 129, 127, 0, 255, 255, 254}));
}

TEST(NarrowTypes, NansKeepTheirSign) {
  constexpr char kNans[] = "{nan, -nan}";
  EXPECT_EQ(Bits("f32", "f8e5m2", 2, kNans), std::vector<int64_t>({126, 254}));
  EXPECT_EQ(Bits("f32", "f8e4m3", 2, kNans), std::vector<int64_t>({124, 252}));
  EXPECT_EQ(Bits("f32", "f8e3m4", 2, kNans), std::vector<int64_t>({120, 248}));
  EXPECT_EQ(Bits("f64", "f8e4m3fn", 2, kNans),
            std::vector<int64_t>({127, 255}));
  EXPECT_EQ(Bits("f32", "f8e5m2fnuz", 2, kNans),
            std::vector<int64_t>({128, 128}));
  EXPECT_EQ(Bits("f32", "f8e4m3fn", 2, "{inf, -inf}"),
            std::vector<int64_t>({127, 255}));
  const auto widened = [](const std::string& type, const std::string& bits) {
    return ResultOf(absl::StrCat("  u = u8[2] constant(", bits,
                                 ")\n  x = ", type,
                                 "[2] bitcast-convert(u)\n"
                                 "  y = f32[2] convert(x)\n"
                                 "  ROOT r = u32[2] bitcast-convert(y)"));
  };
  EXPECT_EQ(widened("f8e5m2", "{125, 253}"),
            std::vector<int64_t>({0x7fc00000, 0xffc00000}));
  EXPECT_EQ(widened("f8e4m3fn", "{127, 255}"),
            std::vector<int64_t>({0x7fc00000, 0xffc00000}));
  EXPECT_EQ(widened("f8e4m3fnuz", "{128, 1}"),
            std::vector<int64_t>({0x7fc00000, 0x3a800000}));
}

// A NaN of the "uz" formats converts to a positive one but is below the
// numbers.
TEST(NarrowTypes, TotalOrderIsThatOfTheBits) {
  const auto below_one = [](const std::string& type, const std::string& bits) {
    return ResultOf(
        absl::StrCat("  u = u8[4] constant(", bits, ")\n  x = ", type,
                     "[4] bitcast-convert(u)\n  o = ", type,
                     "[4] constant({1, 1, 1, 1})\n  ROOT r = pred[4] "
                     "compare(x, o), direction=LT, type=TOTALORDER"));
  };
  EXPECT_EQ(below_one("f8e5m2", "{125, 253, 127, 0}"),
            std::vector<int64_t>({0, 1, 0, 1}));
  EXPECT_EQ(below_one("f8e4m3fnuz", "{128, 127, 255, 0}"),
            std::vector<int64_t>({1, 0, 1, 1}));
  EXPECT_EQ(below_one("f8e8m0fnu", "{255, 0, 126, 128}"),
            std::vector<int64_t>({0, 1, 1, 0}));
}

// Their bytes hold more than their bits, which must not show.
TEST(NarrowTypes, RefusesBitcastsOfStoredBytes) {
  for (const char* lines : {"x = s4[2] constant({-8, 7})\n"
                            "ROOT r = u4[2] bitcast(x)",
                            "x = s4[2] constant({-8, 7})\n"
                            "ROOT r = u4[2] bitcast-convert(x)",
                            "x = u8[2] constant({2, 255})\n"
                            "ROOT r = pred[2] bitcast-convert(x)",
                            "x = u8[] constant(2)\n"
                            "ROOT r = pred[] bitcast-convert(x)",
                            "x = u8[2] constant({2, 255})\n"
                            "ROOT r = pred[2] bitcast(x)"}) {
    const absl::StatusOr<Module> module = ParseHloText(
        absl::StrCat("HloModule m\n\nENTRY e {\n", lines, "\n}\n"));
    ASSERT_THAT(module, testing::IsOk());
    EXPECT_THAT(Evaluate(*module, {}),
                testing::StatusIs(absl::StatusCode::kUnimplemented,
                                  ::testing::HasSubstr("cannot evaluate")))
        << lines;
  }
}

}  // namespace
}  // namespace hone::hlo
