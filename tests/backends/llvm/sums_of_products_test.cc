#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "backends/cpu/compiler.h"
#include "loops/text/text.h"
#include "tests/backends/native_program.h"

namespace hone::backends {
namespace {

using ::hone::testing::ExpectTextMatchesInterpreter;
using ::testing::HasSubstr;
using ::testing::Not;

// $0, $1, $2: types of the factors and the sum; $3: lanes; $4: products.
constexpr char kDot[] = R"(
kernel dot
argument a $0[3,$4]
argument b $1[2,$3,$4]
argument c $2[3,$3]
result y $2[3,$3]
for i 3
| for v $3 vector
| | y[i,v] = c[i,v]
| for v $3 vector
| | y[i,v] += $5
)";

std::string DotText(const char* a, const char* b, const char* sum, int lanes,
                    int products) {
  std::vector<std::string> terms;
  for (int p = 0; p < products; ++p) {
    terms.push_back(absl::Substitute(
        "convert($0, a[i,$1]) * convert($0, b[1,v,$1])", sum, p));
  }
  return absl::Substitute(kDot, a, b, sum, lanes, products,
                          absl::StrJoin(terms, " + "));
}

TEST(SumsOfProductsTest, Adjacent) {
  for (int lanes : {2, 3, 4, 8, 11, 16, 21, 32}) {
    for (int products : {2, 3, 4}) {
      for (const char* type : {"s8", "u8", "s16"}) {
        ExpectTextMatchesInterpreter(
            DotText(type, "s8", "s32", lanes, products).c_str());
      }
      ExpectTextMatchesInterpreter(
          DotText("bf16", "bf16", "f32", lanes, products).c_str());
    }
  }
}

// The last vector of each row is not whole.
constexpr char kRaggedDot[] = R"(kernel dot
argument a $0[3,8]
argument b $0[3,2,16,$2]
argument c $1[3,21]
result y $1[3,21]
for i 3
| for u 2 unrolled
| | for v 16 < 21-16*u vector
| | | y[i,16*u+v] = c[i,16*u+v]
| for u 2 unrolled
| | for v 16 < 21-16*u vector
| | | y[i,16*u+v] += $3
)";

std::string RaggedDotText(const char* type, const char* sum, int products) {
  std::vector<std::string> terms;
  for (int p = 0; p < products; ++p) {
    terms.push_back(absl::Substitute(
        "convert($0, a[i,$1]) * convert($0, b[1,u,v,$1])", sum, p));
  }
  return absl::Substitute(kRaggedDot, type, sum, products,
                          absl::StrJoin(terms, " + "));
}

TEST(SumsOfProductsTest, AdjacentInMaskedLanes) {
  ExpectTextMatchesInterpreter(RaggedDotText("bf16", "f32", 2).c_str());
  ExpectTextMatchesInterpreter(RaggedDotText("s16", "s32", 2).c_str());
  ExpectTextMatchesInterpreter(RaggedDotText("s8", "s32", 2).c_str());
  CompileOptions options;
  options.cpu = "sapphirerapids";
  options.features = "+avx512f,+avx512vl,+avx512bf16,+avx512vnni";
  const std::string text =
      EmitLlvmText(loops::ParseProgram(RaggedDotText("bf16", "f32", 2)).value(),
                   "dot", true, options)
          .value();
  // Of no vector are products added one by one.
  EXPECT_THAT(text, HasSubstr("dpbf16ps.512"));
  EXPECT_THAT(text, Not(HasSubstr("fmul")));
}

// The lanes that a bound leaves out would be outside of the factor.
TEST(SumsOfProductsTest, AdjacentInLanesWithAKnownBound) {
  constexpr char kSum[] = R"(
kernel sum
argument a bf16[24]
result s f32[12]
for u 2 unrolled
| for v 8 < 12-8*u vector
| | s[8*u+v] = 0.0
| for v 8 < 12-8*u vector
| | s[8*u+v] += convert(f32, a[16*u+2*v]) * convert(f32, a[16*u+2*v]) + convert(f32, a[16*u+2*v+1]) * convert(f32, a[16*u+2*v+1])
)";
  ExpectTextMatchesInterpreter(kSum);
  CompileOptions options;
  options.cpu = "sapphirerapids";
  options.features = "+avx512f,+avx512vl,+avx512bf16";
  const std::string text =
      EmitLlvmText(loops::ParseProgram(kSum).value(), "sum", true, options)
          .value();
  EXPECT_THAT(text, HasSubstr("dpbf16ps"));
  EXPECT_THAT(text, Not(HasSubstr("fmul")));
}

// The last of two elements may be outside where the first one is not.
TEST(SumsOfProductsTest, AdjacentOfMaskedLanesStayInside) {
  constexpr char kSum[] = R"(
kernel sum
argument a bf16[15]
result s f32[8]
for v 8
| s[v] = 0.0
for v 8 < 7 vector
| s[v] += convert(f32, a[2*v]) * convert(f32, a[2*v]) + convert(f32, a[2*v+1]) * convert(f32, a[2*v+1])
)";
  ExpectTextMatchesInterpreter(kSum);
  CompileOptions options;
  options.cpu = "sapphirerapids";
  options.features = "+avx512f,+avx512vl,+avx512bf16";
  const std::string text =
      EmitLlvmText(loops::ParseProgram(kSum).value(), "sum", true, options)
          .value();
  EXPECT_THAT(text, Not(HasSubstr("load <16 x i16>")));
}

// A sum along a row has a partial sum in each lane.
TEST(SumsOfProductsTest, AdjacentAlongARow) {
  constexpr char kSum[] = R"(
kernel sum
argument a bf16[5,160]
argument b bf16[160]
result s f32[5]
for i 5
| s[i] = 0.0
| for k 5
| | for v 16 vector
| | | s[i] += convert(f32, a[i,32*k+2*v]) * convert(f32, b[32*k+2*v]) + convert(f32, a[i,32*k+2*v+1]) * convert(f32, b[32*k+2*v+1])
)";
  ExpectTextMatchesInterpreter(kSum);
  CompileOptions options;
  options.cpu = "sapphirerapids";
  options.features = "+avx512f,+avx512vl,+avx512bf16";
  const std::string text =
      EmitLlvmText(loops::ParseProgram(kSum).value(), "sum", true, options)
          .value();
  EXPECT_THAT(text, HasSubstr("dpbf16ps.512"));
  EXPECT_THAT(text, Not(HasSubstr("fmul")));
}

TEST(SumsOfProductsTest, AdjacentAreInstructions) {
  CompileOptions options;
  options.cpu = "sapphirerapids";
  options.features = "+avx512f,+avx512vl,+avx512bf16,+avx512vnni";
  const auto text = [&](const char* a, const char* b, const char* sum,
                        int products) {
    return EmitLlvmText(
               loops::ParseProgram(DotText(a, b, sum, 16, products)).value(),
               "dot", true, options)
        .value();
  };
  EXPECT_THAT(text("bf16", "bf16", "f32", 2), HasSubstr("dpbf16ps.512"));
  EXPECT_THAT(text("s8", "s8", "s32", 2), HasSubstr("vpdpwssd.512"));
  EXPECT_THAT(text("s8", "s16", "s32", 2), HasSubstr("vpdpwssd.512"));
  EXPECT_THAT(text("u8", "s8", "s32", 4), HasSubstr("vpdpbusd.512"));
  EXPECT_THAT(text("s8", "u8", "s32", 4), HasSubstr("vpdpbusd.512"));
  EXPECT_THAT(text("s8", "s8", "s32", 4), Not(HasSubstr("vpdp")));
  EXPECT_THAT(text("f16", "f16", "f32", 2), Not(HasSubstr("vpdp")));
  options.features = "+avx512f";
  options.cpu = "skylake-avx512";
  EXPECT_THAT(text("bf16", "bf16", "f32", 2), Not(HasSubstr("dpbf16ps")));
}

TEST(SumsOfProductsTest, InRanges) {
  constexpr char kSum[] = R"(
kernel sum
argument x f32[7]
argument w f32[3,$0]
result y f32[7,$0]
for i 7
| for v $0 vector
| | y[i,v] = 0.0
| for k 3
| | for v $0 vector
| | | y[i,v] += where(0 <= i+k-1 < 7, x[i+k-1] * w[k,v], $1)
)";
  for (int lanes : {3, 16}) {
    ExpectTextMatchesInterpreter(absl::Substitute(kSum, lanes, "0.0").c_str());
    ExpectTextMatchesInterpreter(absl::Substitute(kSum, lanes, "2.0").c_str());
  }
}

}  // namespace
}  // namespace hone::backends
