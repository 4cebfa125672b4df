#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "backends/cpu/host.h"
#include "hlo/ir/element_type.h"
#include "tests/backends/cpu/export/exported_example.h"
#include "tests/backends/exported_library.h"

namespace hone::backends {
namespace {

using ::hone::testing::Context;
using ::hone::testing::Example;
using ::hone::testing::ExampleArrays;
using ::hone::testing::ExpectError;
using ::hone::testing::ExportedLibrary;
using ::hone::testing::kExampleBytes;
using ::hone::testing::kExampleElements;
using ::hone::testing::kExampleProgram;
using ::hone::testing::kUnwritten;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

TEST(ExportedInfo, DescribesTheInterface) {
  const hone_info& info = Example().info();
  EXPECT_EQ(info.struct_size, sizeof(hone_info));
  EXPECT_EQ(info.abi_version, uint32_t{HONE_ABI_VERSION});
  EXPECT_STREQ(info.name, "example");
  EXPECT_STRNE(info.hone_version, "");
  ASSERT_EQ(info.num_arguments, 1);
  ASSERT_EQ(info.num_results, 2);
  for (const hone_array* array :
       {&info.arguments[0], &info.results[0], &info.results[1]}) {
    EXPECT_EQ(array->type, static_cast<int32_t>(hlo::ElementType::kF32));
    EXPECT_STREQ(array->type_name, "f32");
    ASSERT_EQ(array->rank, 2);
    EXPECT_EQ(array->dimensions[0], 64);
    EXPECT_EQ(array->dimensions[1], 100);
    EXPECT_EQ(array->bytes, kExampleBytes);
  }
  EXPECT_EQ(info.num_aliases, 0);
  EXPECT_EQ(info.threads, 2);
  // 100 floats in lines of 64 bytes.
  EXPECT_EQ(info.workspace_bytes_per_thread, 448);
  EXPECT_EQ(info.workspace_bytes, kExampleBytes + 2 * 448 + 63);
}

TEST(ExportedInfo, NamesTheFeaturesOfTheCode) {
  const ExportedLibrary library = ExportedLibrary::OfProgram(
      kExampleProgram,
      {.cpu = "x86-64", .features = "+sse2,-avx,+sha,+sse4.1"});
  ASSERT_EQ(library.info().num_features, 2);
  EXPECT_STREQ(library.info().features[0], "sse2");
  EXPECT_STREQ(library.info().features[1], "sse4.1");
}

TEST(ExportedCall, ComputesWithDefaults) {
  ExampleArrays arrays;
  EXPECT_EQ(arrays.Call(nullptr), HONE_OK);
  EXPECT_TRUE(arrays.AreRight());
  ExampleArrays others;
  const hone_context context = Context();
  EXPECT_EQ(others.Call(&context), HONE_OK);
  EXPECT_TRUE(others.AreRight());
}

TEST(ExportedCall, RefusesContextsThatContradictThemselves) {
  ExampleArrays arrays;
  const auto expect = [&](const std::string& message,
                          const hone_context& context) {
    const void* arguments[] = {arrays.x.data()};
    void* results[] = {arrays.y.data(), arrays.z.data()};
    ExpectError(HONE_ERROR_CONTEXT, message, &context, arguments, results,
                arrays);
  };
  hone_context context = Context();
  context.struct_size -= 8;
  expect("struct_size", context);
  context = Context();
  context.abi_version = 1;
  expect("abi_version 1, expected 2", context);
  context = Context();
  context.threads = -1;
  expect("threads", context);
  context = Context();
  context.workspace_bytes = -1;
  expect("negative workspace_bytes", context);
  context = Context();
  context.workspace_bytes = 1 << 20;
  expect("no workspace", context);
  context = Context();
  context.release = [](void*, void*) {};
  expect("only one of allocate and release", context);
}

TEST(ExportedCall, RefusesNull) {
  ExampleArrays arrays;
  const void* arguments[] = {arrays.x.data()};
  void* results[] = {arrays.y.data(), arrays.z.data()};
  const void* no_argument[] = {nullptr};
  void* one_result[] = {arrays.y.data(), nullptr};
  ExpectError(HONE_ERROR_NULL_ARRAY, "arguments is null", nullptr, nullptr,
              results, arrays);
  ExpectError(HONE_ERROR_NULL_ARRAY, "results is null", nullptr, arguments,
              nullptr, arrays);
  ExpectError(HONE_ERROR_NULL_ARGUMENT, "arguments[0] is null", nullptr,
              no_argument, results, arrays);
  ExpectError(HONE_ERROR_NULL_RESULT, "results[1] is null", nullptr, arguments,
              one_result, arrays);
}

TEST(ExportedCall, ArraysWithoutElementsMayBeNull) {
  const ExportedLibrary library = ExportedLibrary::OfProgram(R"(
kernel empty
argument x f32[0]
result y f32[0]
for i 0
| y[i] = x[i]
)",
                                                             {});
  const void* arguments[] = {nullptr};
  void* results[] = {nullptr};
  EXPECT_EQ(library.Call(nullptr, arguments, results), HONE_OK);
}

TEST(ExportedCall, RefusesOverlaps) {
  ExampleArrays arrays;
  std::vector<float> both(2 * kExampleElements, kUnwritten);
  const void* arguments[] = {arrays.x.data()};
  const auto expect = [&](const std::string& message, const float* x, float* y,
                          float* z, const hone_context* context) {
    const void* from[] = {x};
    void* to[] = {y, z};
    ExpectError(HONE_ERROR_ALIAS, message, context, from, to, arrays);
    EXPECT_THAT(both, Each(kUnwritten));
  };
  float* const z = arrays.z.data();
  expect("results[0] overlaps arguments[0]", both.data(), both.data(), z,
         nullptr);
  expect("results[1] overlaps arguments[0]", both.data(), z,
         both.data() + kExampleElements - 1, nullptr);
  expect("results[0] overlaps results[1]", arrays.x.data(),
         both.data() + kExampleElements - 1, both.data(), nullptr);
  hone_context context = Context();
  context.workspace = both.data();
  context.workspace_bytes = static_cast<int64_t>(both.size() * sizeof(float));
  expect("the workspace overlaps results[1]", arrays.x.data(), z,
         both.data() + kExampleElements, &context);
  expect("the workspace overlaps arguments[0]", both.data() + kExampleElements,
         arrays.y.data(), z, &context);
  // Neighbors do not overlap.
  void* results[] = {both.data() + kExampleElements, both.data()};
  EXPECT_EQ(Example().Call(nullptr, arguments, results), HONE_OK);
}

// More results than are sorted on the stack, in any order.
TEST(ExportedCall, FindsOverlapsAmongManyResults) {
  constexpr size_t kResults = 50;
  std::string text = "kernel many\nargument x f32[8]\n";
  for (size_t i = 0; i < kResults; ++i) {
    absl::StrAppend(&text, "result y", i, " f32[8]\n");
  }
  absl::StrAppend(&text, "for i 8\n");
  for (size_t i = 0; i < kResults; ++i) {
    absl::StrAppend(&text, "| y", i, "[i] = x[i] + ", i, ".0\n");
  }
  const ExportedLibrary library = ExportedLibrary::OfProgram(text, {});
  std::vector<float> x(8, 1.0f);
  std::vector<float> y(kResults * 8);
  const void* arguments[] = {x.data()};
  std::vector<void*> results;
  for (size_t i = 0; i < kResults; ++i) {
    results.push_back(y.data() + 8 * (i * 7 % kResults));
  }
  ASSERT_EQ(library.Call(nullptr, arguments, results.data()), HONE_OK);
  for (size_t i = 0; i < kResults; ++i) {
    EXPECT_EQ(*static_cast<float*>(results[i]), 1.0f + static_cast<float>(i));
  }
  results[31] = static_cast<float*>(results[3]) + 7;
  EXPECT_EQ(library.Call(nullptr, arguments, results.data()), HONE_ERROR_ALIAS);
  EXPECT_THAT(library.error_message(),
              AllOf(HasSubstr("results[31]"), HasSubstr("overlaps")));
}

// No processor of the last ten years has XOP.
TEST(ExportedCall, RefusesAnotherProcessor) {
  const ExportedLibrary library = ExportedLibrary::OfProgram(
      kExampleProgram, {.features = DetectHost().features + ",+xop"});
  ExampleArrays arrays;
  const void* arguments[] = {arrays.x.data()};
  void* results[] = {arrays.y.data(), arrays.z.data()};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(library.Call(nullptr, arguments, results), HONE_ERROR_PROCESSOR);
  }
  EXPECT_THAT(library.error_message(), HasSubstr("no xop"));
  EXPECT_THAT(arrays.y, Each(kUnwritten));
}

}  // namespace
}  // namespace hone::backends
