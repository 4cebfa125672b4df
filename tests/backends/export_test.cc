#include "backends/cpu/export.h"

#include <fstream>
#include <iterator>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <dlfcn.h>

#include "backends/cpu/compiler.h"
#include "backends/cpu/native_module.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temporary_directory.h"

namespace hone::backends {
namespace {

using ::hone::testing::StatusIs;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Doubles x n times, and adds up what comes out.
constexpr char kModule[] = R"(HloModule doubles

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

condition {
  state = (s32[], s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] get-tuple-element(state), index=1
  ROOT less = pred[] compare(i, n), direction=LT
}

body {
  state = (s32[], s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] get-tuple-element(state), index=1
  x = f32[3] get-tuple-element(state), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  twice = f32[3] add(x, x)
  ROOT all = (s32[], s32[], f32[3]) tuple(next, n, twice)
}

ENTRY main {
  input = (s32[], f32[3]) parameter(0)
  n = s32[] get-tuple-element(input), index=0
  x = f32[3] get-tuple-element(input), index=1
  zero = s32[] constant(0)
  start = (s32[], s32[], f32[3]) tuple(zero, n, x)
  loop = (s32[], s32[], f32[3]) while(start), condition=condition, body=body
  y = f32[3] get-tuple-element(loop), index=2
  nothing = f32[] constant(0)
  total = f32[] reduce(y, nothing), dimensions={0}, to_apply=add
  inner = (f32[]) tuple(total)
  ROOT both = (f32[3], (f32[])) tuple(y, inner)
}
)";

absl::Status Export(const std::string& path) {
  const auto module = hlo::ParseHloText(kModule);
  if (!module.ok()) return module.status();
  const auto plan = LowerAndSchedule(*module, 1);
  if (!plan.ok()) return plan.status();
  return ExportModule(*module, *plan, path);
}

TEST(ExportModule, IsCalledWithTheArraysOfTuples) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path() + "/doubles.so";
  HONE_ASSERT_OK(Export(path));
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto entry =
      reinterpret_cast<EntryFunction>(dlsym(library, "hone_entry"));
  ASSERT_NE(entry, nullptr);
  const int32_t n = 5;
  const float x[] = {1, 2, 3};
  float y[3] = {};
  float total = 0;
  const void* arguments[] = {&n, x};
  void* results[] = {y, &total};
  entry(arguments, results);
  EXPECT_THAT(y, ElementsAre(32, 64, 96));
  EXPECT_EQ(total, 192);
  dlclose(library);
}

TEST(ExportModule, HeaderNamesTheArraysOfTuples) {
  const testing::TemporaryDirectory directory;
  HONE_ASSERT_OK(Export(directory.path() + "/doubles.so"));
  std::ifstream file(directory.path() + "/doubles.h");
  const std::string header((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(header, HasSubstr("arguments[0]: input.0, s32[], 4 bytes"));
  EXPECT_THAT(header, HasSubstr("arguments[1]: input.1, f32[3], 12 bytes"));
  EXPECT_THAT(header, HasSubstr("results[0]: result.0, f32[3], 12 bytes"));
  EXPECT_THAT(header, HasSubstr("results[1]: result.1.0, f32[], 4 bytes"));
  EXPECT_THAT(header, HasSubstr("void hone_entry("));
}

TEST(ExportModule, SaysWhatItCannotWrite) {
  EXPECT_THAT(
      Export("/tmp/doubles"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("/tmp/doubles")));
  EXPECT_THAT(Export("/nonexistent/doubles.so"),
              StatusIs(absl::StatusCode::kUnavailable, _));
}

}  // namespace
}  // namespace hone::backends
