#include "loops/text/canonical.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "loops/text/text.h"
#include "tests/loops/example_programs.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

// Returns the same program with other names.
Program Renamed(Program program) {
  program.set_name("renamed");
  for (size_t i = 0; i < program.buffers().size(); ++i) {
    const auto id = static_cast<BufferId>(i);
    Buffer buffer = program.buffer(id);
    buffer.name = absl::StrCat("other", program.buffers().size() - i);
    program.SetBuffer(id, buffer);
  }
  return program;
}

TEST(CanonicalProgram, DependsOnNoNames) {
  for (const auto& example : testing::ExamplePrograms()) {
    HONE_ASSERT_OK_AND_ASSIGN(const Program program,
                              ParseProgram(example.text));
    HONE_ASSERT_OK_AND_ASSIGN(const Program a, CanonicalProgram(program));
    HONE_ASSERT_OK_AND_ASSIGN(const Program b,
                              CanonicalProgram(Renamed(program)));
    EXPECT_EQ(PrintProgram(a), PrintProgram(b));
    EXPECT_EQ(FingerprintOf(a), FingerprintOf(b));
    // Parsing gives the same numbers of buffers again.
    HONE_ASSERT_OK_AND_ASSIGN(const Program parsed,
                              ParseProgram(PrintProgram(a)));
    ASSERT_EQ(parsed.buffers().size(), a.buffers().size());
    for (size_t i = 0; i < a.buffers().size(); ++i) {
      EXPECT_EQ(parsed.buffers()[i]->name, a.buffers()[i]->name);
    }
  }
}

}  // namespace
}  // namespace hone::loops
