#include "bench/python_script.h"

#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "bench/compile.h"
#include "bench/kernel_sweep.h"
#include "bench/modules.h"
#include "tests/support/status_matchers.h"

namespace hone::bench {
namespace {

using ::hone::testing::IsOk;
using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

TEST(RunProcess, ReturnsTheStatusAndWritesTheOutput) {
  std::ostringstream out;
  const absl::StatusOr<int> status = RunProcess(
      {.program = "/bin/sh", .arguments = {"-c", "echo said; exit 3"}}, out);
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(*status, 3);
  EXPECT_EQ(out.str(), "said\n");
  EXPECT_THAT(
      RunProcess({.program = "/bin/sh", .arguments = {"-c", "kill -KILL $$"}},
                 out),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               HasSubstr("/bin/sh failed")));
}

// An interpreter that knows no Python: it is `sh`, which gets the script's path
// and its arguments.
TEST(RunScript, WantsACompleteDocument) {
  std::ostringstream out;
  EXPECT_THAT(RunScript("/bin/sh", "no_such_script.py", {}, "", out),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("no_such_script.py ended with status")));
}

template <typename Options>
void RefusesBadOptionsBeforeAnythingRuns(
    absl::StatusOr<nlohmann::ordered_json> (*run)(const Options&,
                                                  std::ostream&)) {
  std::ostringstream out;
  Options options;
  options.python = "/no/such/python";
  for (int32_t rounds : {0, 4, 7}) {
    options.rounds = rounds;
    EXPECT_THAT(run(options, out),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("expected an even number of at least 6")))
        << rounds;
  }
  options.rounds = 6;
  EXPECT_THAT(run(options, out), StatusIs(absl::StatusCode::kFailedPrecondition,
                                          HasSubstr("/no/such/python")));
}

TEST(KernelSweepBench, RefusesBadOptionsBeforeAnythingRuns) {
  RefusesBadOptionsBeforeAnythingRuns(RunKernelSweepBench);
}

TEST(ModulesBench, RefusesBadOptionsBeforeAnythingRuns) {
  RefusesBadOptionsBeforeAnythingRuns(RunModulesBench);
  RefusesBadOptionsBeforeAnythingRuns(RunUserProgramsBench);
}

TEST(CompileBench, WantsAPython) {
  std::ostringstream out;
  CompileOptions options;
  options.python = "/no/such/python";
  EXPECT_THAT(RunCompileBench(options, out),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("/no/such/python")));
}

}  // namespace
}  // namespace hone::bench
