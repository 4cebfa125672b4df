#include "backends/cpu/export/shared_object.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <dlfcn.h>
#include <elf.h>

#include "backends/cpu/compiler.h"
#include "backends/cpu/loaded_object.h"
#include "base/temporary_directory.h"
#include "loops/text/text.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::hone::testing::StatusIs;
using ::testing::_;
using ::testing::HasSubstr;

// Uses the runtime (threads and memory) and the C library.
constexpr char kProgram[] = R"(
kernel example
argument x f32[100,8]
result y f32[100]
local t f32[100,8] heap
for i 100 parallel
| for j 8 vector
| | t[i,j] = cbrt(x[i,j])
for i 100
| y[i] = 0.0
| for j 8 vector
| | y[i] += t[i,j]
)";

const ExportedNames kNames = ExportedNames::Of("example.so");

std::string CompileExample() {
  const auto program = loops::ParseProgram(kProgram);
  EXPECT_THAT(program, testing::IsOk());
  const auto object = CompileProgram(*program, kNames.entry);
  EXPECT_THAT(object, testing::IsOk());
  return *object;
}

std::string ExampleHeader() {
  return CHeader(kNames,
                 {{"x", hlo::Shape::Array(hlo::ElementType::kF32, {100, 8})}},
                 {{"y", hlo::Shape::Array(hlo::ElementType::kF32, {100})}},
                 "Sums of roots.\nA line with */ in it.");
}

// Loops begin at lines of 64 bytes of their section: so has the section to.
TEST(CompileProgramTest, CodeKeepsItsPlaceInLinesWhereverItIsLoaded) {
  const std::string object = CompileExample();
  Elf64_Ehdr header;
  ASSERT_GE(object.size(), sizeof(header));
  std::memcpy(&header, object.data(), sizeof(header));
  int code_sections = 0;
  for (int i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section,
                object.data() + header.e_shoff +
                    static_cast<size_t>(i) * header.e_shentsize,
                sizeof(section));
    if ((section.sh_flags & SHF_EXECINSTR) == 0 || section.sh_size == 0) {
      continue;
    }
    ++code_sections;
    EXPECT_EQ(section.sh_addralign % 64, 0u);
  }
  EXPECT_GT(code_sections, 0);
}

TEST(SharedObjectTest, IsLoadedAndExportsItsNamesOnly) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/libexample.so";
  HONE_ASSERT_OK(WriteSharedObject(CompileExample(), kNames, path));
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_EQ(dlsym(library, "hone_kernel_parallel_for"), nullptr);
  EXPECT_EQ(dlsym(library, "hone_kernel_allocate"), nullptr);
  for (const char* hidden :
       {"hone_kernel_call", "hone_exported_info", "hone_kernel_error_message",
        "hone_kernel_descriptor"}) {
    EXPECT_EQ(dlsym(library, hidden), nullptr) << hidden;
  }
  for (const char* exported :
       {"hone_entry", "example_info", "example_error_message", "example_ffi"}) {
    EXPECT_NE(dlsym(library, exported), nullptr) << exported;
  }
  EXPECT_EQ(dlsym(library, "hone_kernel_set_threads"),
            dlsym(library, "example_set_threads"));
  const auto entry = reinterpret_cast<EntryFunction>(dlsym(library, "example"));
  ASSERT_NE(entry, nullptr);
  const std::vector<float> x(800, 27.0f);
  std::vector<float> y(100);
  const void* arguments[] = {x.data()};
  void* results[] = {y.data()};
  EXPECT_EQ(entry(nullptr, arguments, results), HONE_OK);
  EXPECT_THAT(y, ::testing::Each(::testing::FloatEq(24.0f)));
  dlclose(library);
}

TEST(SharedObjectTest, AProcessLoadsHundreds) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/libexample.so";
  HONE_ASSERT_OK(WriteSharedObject(CompileExample(), kNames, path));
  const std::vector<float> x(800, 27.0f);
  for (int i = 0; i < 600; ++i) {
    // A file of its own is a library of its own.
    const std::string copy = absl::StrCat(path, ".", i);
    std::filesystem::copy_file(path, copy);
    void* library = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << i << " libraries before: " << dlerror();
    const auto entry =
        reinterpret_cast<EntryFunction>(dlsym(library, "example"));
    std::vector<float> y(100);
    const void* arguments[] = {x.data()};
    void* results[] = {y.data()};
    ASSERT_EQ(entry(nullptr, arguments, results), HONE_OK);
    ASSERT_THAT(y, ::testing::Each(::testing::FloatEq(24.0f)));
    ASSERT_EQ(entry(nullptr, nullptr, nullptr), HONE_ERROR_NULL_ARRAY);
    dlclose(library);
    std::filesystem::remove(copy);
  }
}

TEST(SharedObjectTest, IsCalledFromC) {
  const TemporaryDirectory directory;
  HONE_ASSERT_OK(WriteSharedObject(CompileExample(), kNames,
                                   directory.path() + "/libexample.so"));
  std::ofstream(directory.path() + "/example.h") << ExampleHeader();
  std::ofstream(directory.path() + "/main.c") << R"(
#include "example.h"
int main(void) {
  static float x[800], y[100];
  const void* arguments[] = {x};
  void* results[] = {y};
  for (int i = 0; i < 800; ++i) x[i] = 8.0f;
  example_set_threads(2);
  if (example(NULL, arguments, results) != HONE_OK) return 1;
  for (int i = 0; i < 100; ++i) {
    if (y[i] < 15.999f || y[i] > 16.001f) return 1;
  }
  return 0;
}
)";
  // Neither the compiler nor the program gets anything of ours to link.
  const std::string command = absl::StrCat(
      "cd ", directory.path(),
      " && cc -std=c11 -Wall -Werror -pedantic main.c libexample.so -o main && "
      "LD_LIBRARY_PATH=. ./main");
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(SharedObjectTest, HeaderDescribesTheArrays) {
  const std::string header = ExampleHeader();
  EXPECT_THAT(header, HasSubstr("arguments[0]: x, f32[100,8], 3200 bytes"));
  EXPECT_THAT(header, HasSubstr("results[0]: y, f32[100], 400 bytes"));
  EXPECT_THAT(header, HasSubstr("Sums of roots."));
  EXPECT_THAT(header, HasSubstr("A line with * / in it."));
  EXPECT_THAT(header, HasSubstr("int32_t example(const hone_context* context"));
}

TEST(SharedObjectTest, RefusesWhatIsNoObject) {
  const TemporaryDirectory directory;
  EXPECT_THAT(
      WriteSharedObject("not an object", kNames, directory.path() + "/x.so"),
      StatusIs(absl::StatusCode::kInvalidArgument, _));
}

TEST(SharedObjectTest, SaysWhereItCannotWrite) {
  const absl::Status status =
      WriteSharedObject(CompileExample(), kNames, "/nonexistent/x.so");
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable,
                               HasSubstr("/nonexistent/x.so")));
  // One line, however many the linker writes.
  EXPECT_THAT(status.message(), ::testing::Not(HasSubstr("\n")));
}

TEST(LoadedObjectTest, NamesSymbolsThatAreNotThere) {
  HONE_ASSERT_OK_AND_ASSIGN(const auto object,
                            LoadedObject::Create(CompileExample()));
  HONE_EXPECT_OK(object->Entry("example"));
  EXPECT_THAT(object->Entry("other"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("other")));
  EXPECT_THAT(LoadedObject::Create("not an object"),
              StatusIs(absl::StatusCode::kInvalidArgument, _));
}

}  // namespace
}  // namespace hone::backends
