#include "graphs/op_scope.h"

#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "base/rng.h"

namespace hone::graphs {
namespace {

// The scope of an instruction with this name in its metadata.
std::string ScopeOfName(absl::string_view op_name) {
  return ScopeOf(absl::StrCat("op_type=\"add\" op_name=\"", op_name,
                              "\" source_file=\"a/b.py\" source_line=7"));
}

TEST(OpScopeTest, TheLastComponentIsTheOperator) {
  EXPECT_EQ(ScopeOfName("layer1/attention/dot_general"), "layer1/attention");
  EXPECT_EQ(ScopeOfName("add"), "");
  EXPECT_EQ(ScopeOfName("layer1/reduce_sum[axes=(0,)]"), "layer1");
}

TEST(OpScopeTest, JitNamesNoPart) {
  EXPECT_EQ(ScopeOfName("jit(f)/add"), "");
  EXPECT_EQ(ScopeOfName("jit(step)/jit(main)/layer1/pjit(relu)/max"), "layer1");
  EXPECT_EQ(ScopeOfName("jit(<lambda>)/a/b/mul"), "a/b");
  EXPECT_EQ(ScopeOfName("jit(a/b)/c/mul"), "c");
  EXPECT_EQ(ScopeOfName("jitter(a)/b/mul"), "a/b");
}

TEST(OpScopeTest, OtherTransformationsStandForWhatTheyAreAppliedTo) {
  EXPECT_EQ(ScopeOfName("jit(f)/transpose(jvp(layer1))/attention/dot_general"),
            "layer1/attention");
  EXPECT_EQ(ScopeOfName("jvp(Model)/layer/add"), "Model/layer");
  EXPECT_EQ(ScopeOfName("vmap(transpose(jvp(a)))/vmap(b)/add"), "a/b");
  EXPECT_EQ(ScopeOfName("jit(f)/transpose(jvp(jit(relu)))/x/select_n"), "x");
  EXPECT_EQ(ScopeOfName("jvp()/transpose(jvp())/a/add"), "a");
}

TEST(OpScopeTest, SlashesBetweenParenthesesDoNotSplit) {
  EXPECT_EQ(ScopeOfName("jvp(a/b)/c/add"), "a/b/c");
  EXPECT_EQ(ScopeOfName("transpose(jvp(a/b))/add(x/y)"), "a/b");
}

TEST(OpScopeTest, ThereIsNoScopeWithoutAName) {
  EXPECT_EQ(ScopeOf(""), "");
  EXPECT_EQ(ScopeOf("op_type=\"add\" source_file=\"a/b.py\""), "");
  EXPECT_EQ(ScopeOfName(""), "");
  EXPECT_EQ(ScopeOfName("/"), "");
  EXPECT_EQ(ScopeOfName("//a//add"), "a");
}

TEST(OpScopeTest, TextThatEndsEarlyIsRead) {
  EXPECT_EQ(ScopeOf("op_name=\""), "");
  EXPECT_EQ(ScopeOf("op_name=\"layer1/add"), "layer1");
  EXPECT_EQ(ScopeOf("op_name="), "");
}

TEST(OpScopeTest, MalformedParenthesesAreKept) {
  EXPECT_EQ(ScopeOfName("a)/b/add"), "a)/b");
  EXPECT_EQ(ScopeOfName("jvp(a/b/add"), "");
  EXPECT_EQ(ScopeOfName("a/jvp(b)c/add"), "a/jvp(b)c");
  EXPECT_EQ(ScopeOfName(")(/a/add"), ")(/a");
  EXPECT_EQ(ScopeOfName("()/a/add"), "a");
}

TEST(OpScopeTest, AnyTextIsRead) {
  constexpr absl::string_view kParts[] = {
      "(", ")", "/", "jit", "jvp(", "a", "\"", "op_name=\"", "\\", "jit(a)"};
  Rng rng(1);
  for (int i = 0; i < 2000; ++i) {
    std::string name;
    for (uint64_t parts = rng.Below(12); parts > 0; --parts) {
      absl::StrAppend(&name, kParts[rng.Below(std::size(kParts))]);
    }
    const std::string scope = ScopeOf(absl::StrCat("op_name=\"", name));
    EXPECT_LE(scope.size(), name.size()) << name;
    EXPECT_EQ(scope.find('"'), scope.npos) << name;
  }
}

}  // namespace
}  // namespace hone::graphs
