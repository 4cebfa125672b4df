#include "base/child_process.h"

#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/status_matchers.h"

namespace hone {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

TEST(ChildProcess, GetsInputArgumentsAndEnvironment) {
  int to[2];
  int from[2];
  ASSERT_EQ(pipe2(to, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(from, O_CLOEXEC), 0);
  ASSERT_EQ(setenv("HONE_TEST_VARIABLE", "outer", 1), 0);
  HONE_ASSERT_OK_AND_ASSIGN(
      const pid_t pid,
      StartChildProcess(
          {.program = "/bin/sh",
           .arguments = {"-c", "read x; echo $x $0 $HONE_TEST_VARIABLE", "a b"},
           .environment = {"HONE_TEST_VARIABLE=inner"},
           .input = to[0],
           .output = from[1]}));
  close(to[0]);
  close(from[1]);
  ASSERT_EQ(write(to[1], "word\n", 5), 5);
  close(to[1]);
  std::string answer;
  char buffer[64];
  for (ssize_t n = 0; (n = read(from[0], buffer, sizeof(buffer))) > 0;) {
    answer.append(buffer, static_cast<size_t>(n));
  }
  close(from[0]);
  EXPECT_EQ(answer, "word a b inner\n");
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

TEST(ChildProcess, SaysWhichProgramIsNotThere) {
  EXPECT_THAT(StartChildProcess({.program = "/no/such/program"}),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("/no/such")));
}

}  // namespace
}  // namespace hone
