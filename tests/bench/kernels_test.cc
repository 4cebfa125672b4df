#include "bench/kernels.h"

#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/temporary_directory.h"
#include "tests/support/status_matchers.h"

namespace hone::bench {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

TEST(KernelsBench, TooFewRoundsAreRefusedBeforeAnythingIsMeasured) {
  const TemporaryDirectory suite;
  std::ofstream(suite.path() + "/suite.json")
      << R"({"kernels": [{"name": "absent"}]})";
  KernelsOptions options;
  options.suite = suite.path();
  options.python = "/no/such/python";
  std::ostringstream out;
  for (int32_t rounds : {0, 4, 7}) {
    options.rounds = rounds;
    EXPECT_THAT(RunKernelsBench(options, out),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("expected an even number of at least 6")))
        << rounds;
  }
  options.rounds = 6;
  EXPECT_THAT(RunKernelsBench(options, out),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("/no/such/python")));
}

}  // namespace
}  // namespace hone::bench
