#include "tests/loops/random_program.h"

#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

#include "loops/analysis/dependences.h"
#include "loops/ir/rewrite.h"
#include "loops/text/text.h"

namespace hone::testing {
namespace {

using loops::Loop;
using loops::LoopMode;
using loops::Path;
using loops::Program;

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
    loops::VisitLoops(program, Path(), [&](const Path& path, const Loop& loop) {
      if (loop.mode != LoopMode::kParallel && loop.mode != LoopMode::kVector) {
        return;
      }
      loops::CarryOptions options;
      options.reorder_reductions = loop.mode == LoopMode::kVector;
      EXPECT_FALSE(loops::CarriesDependence(program, path, options))
          << loops::PrintProgramWithPaths(program);
    });
  }
}

}  // namespace
}  // namespace hone::testing
