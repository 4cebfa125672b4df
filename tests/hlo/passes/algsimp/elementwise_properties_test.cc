// Every elementwise rule on every element type, over the values that rules go
// wrong on.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "hlo/passes/registry.h"
#include "tests/hlo/passes/algsimp/rule_check.h"
#include "tests/hlo/passes/golden.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

struct Case {
  // The kinds of types that it verifies for (TypesUnderTest).
  const char* kinds;
  // An expression of parameters p, q and s, constants c and d, and these
  // broadcast, cs and ds. $A is the array type, $B the same of pred, $T the
  // element type.
  const char* body;
};

std::string ModuleText(const TypeUnderTest& type, absl::string_view body,
                       const std::string& c, const std::string& d) {
  std::string text = R"(HloModule m
ENTRY e {
  p = $A parameter(0)
  q = $A parameter(1)
  s = $A parameter(2)
  b = $B parameter(3)
)";
  const auto add_constant = [&](absl::string_view name,
                                const std::string& value) {
    absl::StrAppend(&text, "  ", name, " = $T[] constant(", value, ")\n  ",
                    name, "s = $A broadcast(", name, "), dimensions={}\n");
  };
  if (!c.empty()) add_constant("c", c);
  if (!d.empty()) add_constant("d", d);
  absl::StrAppend(&text, body, "\n}\n");
  return absl::StrReplaceAll(text, {{"$A", absl::StrCat(type.name, "[256]")},
                                    {"$B", "pred[256]"},
                                    {"$T", type.name}});
}

// Expects the meaning to stay under the strict options, whatever the constants
// that the body names, and some constant of some type to make a rule apply.
void Check(const Case& test) {
  const std::string body = test.body;
  const bool has_c =
      body.find("cs") != body.npos || body.find("(c,") != body.npos;
  const bool has_d =
      body.find("ds") != body.npos || body.find(" d)") != body.npos;
  bool applies = false;
  for (const TypeUnderTest& type : TypesUnderTest(test.kinds)) {
    std::vector<std::string> cs = {""};
    std::vector<std::string> ds = {""};
    if (has_c) cs = type.values;
    if (has_d) ds = type.values;
    const std::vector<Literal> arguments = SpecialArguments(
        ParseForTest(ModuleText(type, "ROOT r = $A copy(p)", "", "")), 1);
    for (size_t i = 0; i < cs.size(); ++i) {
      for (size_t j = 0; j < ds.size(); ++j) {
        // A third of the pairs, each value among them.
        if (has_d && (i + j) % 3 != 0) continue;
        const std::string text = ModuleText(type, body, cs[i], ds[j]);
        for (Numerics numerics : {Numerics::kExact, Numerics::kReassociate}) {
          applies |= ExpectSameValues(text, numerics, arguments);
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
  EXPECT_TRUE(applies) << body;
}

constexpr Case kCases[] = {
    // Neutral and absorbing constants.
    {"fcip", "ROOT r = $A add(p, cs)"},
    {"fci", "ROOT r = $A subtract(p, cs)"},
    {"fci", "ROOT r = $A subtract(cs, p)"},
    {"fcip", "ROOT r = $A multiply(cs, p)"},
    {"fci", "ROOT r = $A divide(p, cs)"},
    {"fi", "ROOT r = $A remainder(p, cs)"},
    {"fci", "ROOT r = $A power(p, cs)"},
    {"fip", "ROOT r = $A maximum(p, cs)"},
    {"fip", "ROOT r = $A minimum(cs, p)"},
    {"ip", "ROOT r = $A and(p, cs)"},
    {"ip", "ROOT r = $A or(cs, p)"},
    {"ip", "ROOT r = $A xor(p, cs)"},
    {"i", "ROOT r = $A shift-left(p, cs)"},
    {"i", "ROOT r = $A shift-right-logical(p, cs)"},
    {"i", "ROOT r = $A shift-right-arithmetic(p, cs)"},
    // The same operand twice.
    {"fci", "ROOT r = $A subtract(p, p)"},
    {"fip", "ROOT r = $A maximum(p, p)"},
    {"ip", "ROOT r = $A and(p, p)"},
    {"ip", "ROOT r = $A or(p, p)"},
    {"fcip", "ROOT r = $B compare(p, p), direction=EQ"},
    {"fcip", "ROOT r = $B compare(p, p), direction=NE"},
    {"fip", "ROOT r = $B compare(p, p), direction=LE"},
    {"fip", "ROOT r = $B compare(p, p), direction=GT"},
    {"fcip", "ROOT r = $A select(b, p, p)"},
    // Signs.
    {"fci", "n = $A negate(q)\nROOT r = $A add(p, n)"},
    {"fci", "n = $A negate(p)\nROOT r = $A add(n, q)"},
    {"fci", "n = $A negate(q)\nROOT r = $A subtract(p, n)"},
    {"fci", "n = $A negate(p)\nROOT r = $A multiply(n, q)"},
    {"fci", "n = $A negate(p)\nm = $A negate(q)\nROOT r = $A multiply(n, m)"},
    {"fci", "n = $A negate(p)\nROOT r = $A divide(n, q)"},
    {"fci", "n = $A negate(q)\nROOT r = $A divide(p, n)"},
    {"fci", "n = $A negate(p)\nROOT r = $A negate(n)"},
    {"fci", "n = $A subtract(p, q)\nROOT r = $A negate(n)"},
    {"fi", "n = $A negate(p)\nROOT r = $A abs(n)"},
    {"fi", "n = $A abs(p)\nROOT r = $A abs(n)"},
    {"fi", "n = $A abs(p)\nROOT r = $B compare(n, cs), direction=LT"},
    // Constants one after the other.
    {"fi", "a = $A add(p, cs)\nROOT r = $A add(a, ds)"},
    {"fi", "a = $A add(p, cs)\nROOT r = $A subtract(a, ds)"},
    {"fi", "a = $A subtract(p, cs)\nROOT r = $A add(a, ds)"},
    {"fi", "a = $A subtract(p, cs)\nROOT r = $A subtract(a, ds)"},
    {"fci", "a = $A multiply(p, cs)\nROOT r = $A multiply(a, ds)"},
    {"fci", "a = $A multiply(p, cs)\nROOT r = $A divide(a, ds)"},
    {"fci", "a = $A divide(p, cs)\nROOT r = $A multiply(a, ds)"},
    {"fci", "a = $A divide(p, cs)\nROOT r = $A divide(a, ds)"},
    {"fci", "a = $A multiply(p, cs)\nROOT r = $A negate(a)"},
    {"fci", "a = $A negate(p)\nROOT r = $A multiply(a, cs)"},
    {"fci", "a = $A negate(p)\nROOT r = $A divide(a, cs)"},
    {"i", "a = $A remainder(p, q)\nROOT r = $A remainder(a, q)"},
    {"i", "a = $A divide(p, q)\nROOT r = $A divide(a, cs)"},
    {"fip", "a = $A maximum(p, cs)\nROOT r = $A maximum(a, ds)"},
    {"fip", "a = $A minimum(p, cs)\nROOT r = $A minimum(ds, a)"},
    {"fip", "a = $A maximum(p, cs)\nROOT r = $A minimum(a, ds)"},
    {"fip", "a = $A minimum(cs, p)\nROOT r = $A maximum(a, ds)"},
    {"fi", "ROOT r = $A clamp(cs, p, ds)"},
    // Functions.
    {"f", "a = $A sqrt(p)\nROOT r = $A divide(cs, a)"},
    {"f", "a = $A rsqrt(p)\nROOT r = $A divide(cs, a)"},
    {"f", "a = $A floor(p)\nROOT r = $A floor(a)"},
    {"f", "a = $A ceil(p)\nROOT r = $A ceil(a)"},
    {"f", "a = $A round-nearest-even(p)\nROOT r = $A round-nearest-even(a)"},
    {"f", "a = $A sign(p)\nROOT r = $A sign(a)"},
    {"c", "a = $A sign(p)\nROOT r = $A sign(a)"},
    // Comparisons and selections.
    {"fip", "a = $B compare(p, q), direction=LT\nROOT r = $B not(a)"},
    {"fcip", "a = $B compare(p, q), direction=NE\nROOT r = $B not(a)"},
    {"f",
     "a = $B compare(p, q), direction=GE, type=TOTALORDER\n"
     "ROOT r = $B not(a)"},
    {"ip", "a = $A not(p)\nROOT r = $A not(a)"},
    {"p", "ROOT r = $B compare(p, cs), direction=EQ"},
    {"p", "ROOT r = $B compare(cs, p), direction=NE"},
    {"p", "ROOT r = $B select(b, p, cs)"},
    {"p", "ROOT r = $B select(b, cs, p)"},
    {"p", "ROOT r = $B select(b, cs, ds)"},
    {"fcip", "n = $B not(b)\nROOT r = $A select(n, p, q)"},
    {"fcip", "a = $A select(b, p, q)\nROOT r = $A select(b, a, s)"},
    {"fcip", "a = $A select(b, p, q)\nROOT r = $A select(b, s, a)"},
    {"i", "a = $A maximum(p, cs)\nROOT r = $B compare(a, ds), direction=LT"},
    {"i", "a = $A minimum(p, cs)\nROOT r = $B compare(a, ds), direction=LT"},
    {"i", "a = $A and(p, cs)\nROOT r = $B compare(a, ds), direction=GE"},
    {"i", "a = $A remainder(p, q)\nROOT r = $B compare(a, cs), direction=LT"},
    {"i", "a = $A remainder(cs, q)\nROOT r = $B compare(a, ds), direction=LT"},
    {"i",
     "a = $A iota(), iota_dimension=0\n"
     "ROOT r = $B compare(a, cs), direction=LT"},
};

TEST(AlgsimpProperties, ElementwiseRulesKeepSpecialValues) {
  for (const Case& test : kCases) {
    SCOPED_TRACE(test.body);
    Check(test);
    if (HasFailure()) return;
  }
}

// Every chain of two conversions.
TEST(AlgsimpProperties, ConversionsKeepSpecialValues) {
  const std::vector<TypeUnderTest> types = TypesUnderTest("fip");
  int changed = 0;
  for (const TypeUnderTest& from : types) {
    const auto text = [&](absl::string_view middle, absl::string_view to) {
      return absl::StrCat("HloModule m\nENTRY e {\n  p = ", from.name,
                          "[256] parameter(0)\n  a = ", middle,
                          "[256] convert(p)\n  ROOT r = ", to,
                          "[256] convert(a)\n}\n");
    };
    const std::vector<Literal> arguments =
        SpecialArguments(ParseForTest(text("f32", "f32")), 1);
    for (const TypeUnderTest& middle : types) {
      for (const TypeUnderTest& to : types) {
        changed += ExpectSameValues(text(middle.name, to.name),
                                    Numerics::kExact, arguments)
                       ? 1
                       : 0;
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(changed, 500);
}

// |-z| has the type of the parts of z, and nothing is left to do then.
TEST(AlgsimpProperties, ComplexAbsoluteValuesKeepTheirType) {
  struct Types {
    const char* complex;
    const char* part;
  };
  for (const auto& [complex, part] :
       {Types{"c64", "f32"}, Types{"c128", "f64"}}) {
    const std::string text = absl::StrReplaceAll(
        R"(HloModule m
ENTRY e {
  z = $C[256] parameter(0)
  n = $C[256] negate(z)
  a = $P[256] abs(n)
  ROOT b = $P[256] abs(a)
})",
        {{"$C", complex}, {"$P", part}});
    EXPECT_TRUE(ExpectSameValues(text, Numerics::kExact,
                                 SpecialArguments(ParseForTest(text), 1)));
    Module module = ParseForTest(text);
    HONE_ASSERT_OK_AND_ASSIGN(const Pass* pass, FindPass("algsimp"));
    HONE_ASSERT_OK(pass->Run(module));
    EXPECT_EQ(module.instruction_count(), 2);
    HONE_ASSERT_OK_AND_ASSIGN(const bool changed, pass->Run(module));
    EXPECT_FALSE(changed);
  }
}

}  // namespace
}  // namespace hone::hlo
