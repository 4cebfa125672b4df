#include "costmodels/xla_cpu_kernels.h"

#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "costmodels/xla_cpu_features.h"
#include "hlo/passes/pipeline.h"
#include "hlo/read_module.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::costmodels {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr char kRegions[] = R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
inner {
  p = f32[64,64] parameter(0)
  e = f32[64,64] exponential(p)
  ROOT n = f32[64,64] negate(e)
}
)";

// The kernels of an entry computation with these lines, as the names of their
// members, the root first.
std::set<std::vector<std::string>> KernelsOf(absl::string_view lines,
                                             XlaCpuKernelKind kind) {
  const absl::StatusOr<hlo::Module> module = hlo::ParseHloText(absl::StrCat(
      kRegions, "ENTRY main {\n  x = f32[64,64] parameter(0)\n",
      "  y = f32[64,64] parameter(1)\n  v = f32[64] parameter(2)\n",
      "  zero = f32[] constant(0)\n", lines, "}\n"));
  HONE_EXPECT_OK(module);
  if (!module.ok()) return {};
  const hlo::Computation& entry = module->entry_computation();
  std::set<std::vector<std::string>> found;
  for (const XlaCpuKernel& kernel : GroupXlaCpuKernels(*module, entry)) {
    if (kernel.kind != kind) continue;
    EXPECT_EQ(kernel.root, kernel.members.front());
    std::vector<std::string> names;
    for (hlo::InstructionId id : kernel.members) {
      names.push_back(entry[id].name());
    }
    found.insert(names);
  }
  return found;
}

std::set<std::vector<std::string>> Loops(absl::string_view lines) {
  return KernelsOf(lines, XlaCpuKernelKind::kLoop);
}

std::set<std::vector<std::string>> LibraryCalls(absl::string_view lines) {
  return KernelsOf(lines, XlaCpuKernelKind::kLibrary);
}

std::set<std::vector<std::string>> Singles(absl::string_view lines) {
  return KernelsOf(lines, XlaCpuKernelKind::kSingle);
}

TEST(XlaCpuKernels, AChainIsOneLoop) {
  EXPECT_THAT(Loops(R"(a = f32[64,64] add(x, y)
  b = f32[64,64] exponential(a)
  t = f32[64,64] transpose(b), dimensions={1,0}
  ROOT r = f32[64,64] negate(t)
)"),
              ElementsAre(ElementsAre("r", "t", "b", "a")));
}

TEST(XlaCpuKernels, CheapProducersAreRecomputed) {
  EXPECT_THAT(Loops(R"(a = f32[64,64] negate(x)
  b = f32[64,64] multiply(a, y)
  c = f32[64,64] subtract(a, y)
  ROOT r = (f32[64,64], f32[64,64]) tuple(b, c)
)"),
              ElementsAre(ElementsAre("b", "a"), ElementsAre("c", "a")));
}

TEST(XlaCpuKernels, ExpensiveProducersAreNot) {
  EXPECT_THAT(Loops(R"(a = f32[64,64] exponential(x)
  b = f32[64,64] multiply(a, y)
  c = f32[64,64] subtract(a, y)
  ROOT r = (f32[64,64], f32[64,64]) tuple(b, c)
)"),
              UnorderedElementsAre(ElementsAre("a"), ElementsAre("b"),
                                   ElementsAre("c")));
}

TEST(XlaCpuKernels, ExpensiveProducersAreNotRepeatedByABroadcast) {
  EXPECT_THAT(Loops(R"(a = f32[64] exponential(v)
  b = f32[64,64] broadcast(a), dimensions={0}
  ROOT r = f32[64,64] add(b, x)
)"),
              ElementsAre(ElementsAre("a"), ElementsAre("r", "b")));
}

TEST(XlaCpuKernels, SumsOfTwoArraysAreNotReadTwiceForALibraryCall) {
  // `a` reads two arrays. One user cannot take it in, so the other must not.
  constexpr char kLines[] = R"(a = f32[64,64] add(x, y)
  d = f32[64,64] dot(a, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  n = f32[64,64] negate(a)
  ROOT r = (f32[64,64], f32[64,64]) tuple(d, n)
)";
  EXPECT_THAT(Loops(kLines), ElementsAre(ElementsAre("a"), ElementsAre("n")));
}

TEST(XlaCpuKernels, PaddingIsNotCopiedIntoTwoLoops) {
  EXPECT_THAT(Loops(R"(s = f32[60,64] slice(x), slice={[0:60], [0:64]}
  p = f32[64,64] pad(s, zero), padding=4_0x0_0
  b = f32[64,64] multiply(p, y)
  c = f32[64,64] subtract(p, y)
  d = f32[64,64] add(b, c)
  e = f32[64,64] exponential(d)
  f = f32[64,64] multiply(d, y)
  ROOT r = (f32[64,64], f32[64,64]) tuple(e, f)
)"),
              ::testing::Contains(ElementsAre("p", "zero", "s")));
}

TEST(XlaCpuKernels, ProductsAreLibraryCallsByThemselves) {
  constexpr char kLines[] = R"(n = f32[64,64] negate(x)
  d = f32[64,64] dot(n, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[64,64] negate(d)
)";
  EXPECT_THAT(LibraryCalls(kLines), ElementsAre(ElementsAre("d")));
  EXPECT_THAT(Loops(kLines), ElementsAre(ElementsAre("n"), ElementsAre("r")));
}

TEST(XlaCpuKernels, OtherProductsAreNot) {
  // The left operand is contracted across memory; a vector.
  EXPECT_THAT(Singles("ROOT d = f32[64,64] dot(x, y), lhs_contracting_dims={0},"
                      " rhs_contracting_dims={0}\n"),
              ElementsAre(ElementsAre("d")));
  EXPECT_THAT(Singles("ROOT d = f32[64] dot(x, v), lhs_contracting_dims={1}, "
                      "rhs_contracting_dims={0}\n"),
              ElementsAre(ElementsAre("d")));
}

TEST(XlaCpuKernels, OuterProductsAreLoops) {
  EXPECT_THAT(Loops(R"(a = f32[64,1] reshape(v)
  b = f32[1,64] reshape(v)
  d = f32[64,64] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[64,64] add(d, x)
)"),
              ElementsAre(ElementsAre("r", "d", "b", "a")));
}

TEST(XlaCpuKernels, LargeReductionsTakeInTheirNeighbors) {
  EXPECT_THAT(LibraryCalls(R"(a = f32[64,64] multiply(x, y)
  s = f32[64] reduce(a, zero), dimensions={1}, to_apply=sum
  b = f32[64,64] broadcast(s), dimensions={0}
  ROOT r = f32[64,64] subtract(b, x)
)"),
              ElementsAre(ElementsAre("r", "b", "s", "a")));
}

TEST(XlaCpuKernels, ReductionsLeaveWhatOthersUse) {
  constexpr char kLines[] = R"(a = f32[64,64] multiply(x, y)
  s = f32[64] reduce(a, zero), dimensions={1}, to_apply=sum
  ROOT r = (f32[64], f32[64,64]) tuple(s, a)
)";
  EXPECT_THAT(LibraryCalls(kLines), ElementsAre(ElementsAre("s")));
}

TEST(XlaCpuKernels, SmallReductionsAreLoops) {
  EXPECT_THAT(Loops(R"(n = f32[64] negate(v)
  ROOT s = f32[] reduce(n, zero), dimensions={0}, to_apply=sum
)"),
              ElementsAre(ElementsAre("s", "zero", "n")));
}

TEST(XlaCpuKernels, FusionsOfTheModuleStay) {
  EXPECT_THAT(Singles(R"(n = f32[64,64] negate(x)
  ROOT f = f32[64,64] fusion(n), kind=kLoop, calls=inner
)"),
              ElementsAre(ElementsAre("f")));
}

TEST(XlaCpuKernels, WhatDoesNothingIsNoKernel) {
  constexpr char kLines[] = R"(a = f32[4096] reshape(x)
  ROOT r = (f32[4096], f32[64,64]) tuple(a, y)
)";
  EXPECT_THAT(Loops(kLines), IsEmpty());
  EXPECT_THAT(Singles(kLines), IsEmpty());
}

// What the real XLA makes of modules of the corpus: how many loops, library
// calls and other products run in one execution of the entry computation.
TEST(XlaCpuKernels, AreAboutXlasOwn) {
  const std::string root = HONE_SOURCE_DIR;
  std::ifstream file(root + "/tests/costmodels/testdata/xla_kernels.json");
  const nlohmann::json expected = nlohmann::json::parse(file);
  ASSERT_FALSE(expected.empty());
  const auto names = XlaCpuFeatureNames();
  int exact = 0;
  for (const auto& [name, counts] : expected.items()) {
    SCOPED_TRACE(name);
    HONE_ASSERT_OK_AND_ASSIGN(
        hlo::Module module,
        hlo::ReadModuleFile(
            absl::StrCat(root, "/bench/data/corpus/", name, ".hlo.zst")));
    HONE_ASSERT_OK(hlo::RunPipeline(module, "xla-cpu"));
    const XlaCpuFeatures features = FeaturesOf(module);
    double ours = 0, theirs = 0, library = 0;
    bool equal = true;
    for (size_t i = 0; i < names.size(); ++i) {
      if (!counts.contains(names[i])) continue;
      const double count = counts[std::string(names[i])];
      ours += features[i];
      theirs += count;
      equal &= features[i] == count;
      if (names[i] == "library_calls") library = features[i] - count;
    }
    exact += equal ? 1 : 0;
    EXPECT_NEAR(ours, theirs, 0.13 * theirs);
    EXPECT_LE(std::abs(library), 0.2 * theirs);
  }
  EXPECT_GE(exact, 2);
}

}  // namespace
}  // namespace hone::costmodels
