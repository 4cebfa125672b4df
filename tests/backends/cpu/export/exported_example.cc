#include "tests/backends/cpu/export/exported_example.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hone::testing {

const char kExampleProgram[] = R"(
kernel example
argument x f32[64,100]
result y f32[64,100]
result z f32[64,100]
local t f32[64,100] heap
for i 64
| for j 100
| | t[i,j] = x[i,j] + x[i,j]
for i 64 parallel
| local u f32[100] heap
| for j 100
| | u[j] = t[i,j] + t[i,j]
| for j 100
| | y[i,j] = u[j]
| for j 100
| | z[i,j] = x[i,j] + 1.0
)";

const ExportedLibrary& Example() {
  static const auto* const library = new ExportedLibrary(
      ExportedLibrary::OfProgram(kExampleProgram, {.threads = 2}));
  return *library;
}

hone_context Context() {
  const hone_context context = HONE_CONTEXT_INIT;
  return context;
}

ExampleArrays::ExampleArrays()
    : x(kExampleElements),
      y(kExampleElements, kUnwritten),
      z(kExampleElements, kUnwritten) {
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 97);
}

int32_t ExampleArrays::Call(const hone_context* context) {
  const void* arguments[] = {x.data()};
  void* results[] = {y.data(), z.data()};
  return Example().Call(context, arguments, results);
}

bool ExampleArrays::AreRight() const {
  for (size_t i = 0; i < x.size(); ++i) {
    if (y[i] != 4 * x[i] || z[i] != x[i] + 1) return false;
  }
  return true;
}

void ExpectError(int32_t code, const std::string& message,
                 const hone_context* context, const void* const* arguments,
                 void* const* results, const ExampleArrays& arrays) {
  EXPECT_EQ(Example().Call(context, arguments, results), code);
  EXPECT_THAT(Example().error_message(), ::testing::HasSubstr(message));
  EXPECT_THAT(arrays.y, ::testing::Each(kUnwritten));
  EXPECT_THAT(arrays.z, ::testing::Each(kUnwritten));
}

}  // namespace hone::testing
