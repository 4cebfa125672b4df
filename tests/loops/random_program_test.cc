#include "tests/loops/random_program.h"

#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

#include "loops/dependences.h"
#include "loops/rewrite.h"
#include "loops/text.h"

namespace hone::testing {
namespace {

using loops::Path;
using loops::Program;
using loops::Scope;
using loops::ScopeMode;

TEST(RandomProgram, DependsOnTheSeedOnly) {
  EXPECT_EQ(loops::PrintProgram(RandomProgram(3)),
            loops::PrintProgram(RandomProgram(3)));
  EXPECT_NE(loops::PrintProgram(RandomProgram(3)),
            loops::PrintProgram(RandomProgram(4)));
}

TEST(RandomProgram, HasEveryConstruct) {
  std::string texts;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    texts += loops::PrintProgram(RandomProgram(seed));
  }
  for (const char* construct :
       {"constant",     "heap\n",         "stack\n",     "register\n",
        "strides {",    "| local ",       " parallel\n", " vector\n",
        " unrolled\n",  " < 5-",          " += ",        " max= ",
        " min= ",       " and= ",         " or= ",       " xor= ",
        " if (",        " nontemporal\n", "@[",          "{clamp(",
        "where(0 <= ",  "index(",         "total_",      "select(",
        "convert(f32,", "convert(s32,",   "f64[",        "bf16[",
        "pred["}) {
    EXPECT_TRUE(absl::StrContains(texts, construct)) << construct;
  }
}

TEST(RandomProgram, ModesKeepTheMeaning) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Program program = RandomProgram(seed);
    loops::VisitScopes(
        program, Path(), [&](const Path& path, const Scope& scope) {
          if (scope.mode != ScopeMode::kParallel &&
              scope.mode != ScopeMode::kVector) {
            return;
          }
          loops::CarryOptions options;
          options.reorder_reductions = scope.mode == ScopeMode::kVector;
          EXPECT_FALSE(loops::CarriesDependence(program, path, options))
              << loops::PrintProgramWithPaths(program);
        });
  }
}

}  // namespace
}  // namespace hone::testing
