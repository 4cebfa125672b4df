#include "backends/cpu/export/export.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/cpu/compiler.h"
#include "backends/cpu/export/exported_names.h"
#include "backends/cpu/kernel_runtime.h"
#include "backends/cpu/native_module.h"
#include "base/temporary_directory.h"
#include "hlo/text/parser.h"
#include "loops/text/text.h"
#include "tests/backends/exported_library.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::hone::testing::ExportedLibrary;
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
  return ExportModule(*module, *plan, /*threads=*/2, path);
}

TEST(ExportModule, IsCalledWithTheArraysOfTuples) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/doubles.so";
  HONE_ASSERT_OK(Export(path));
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto entry =
      reinterpret_cast<void (*)(const void* const*, void* const*)>(
          dlsym(library, "hone_entry"));
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
  const TemporaryDirectory directory;
  HONE_ASSERT_OK(Export(directory.path() + "/doubles.so"));
  std::ifstream file(directory.path() + "/doubles.h");
  const std::string header((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(header, HasSubstr("arguments[0]: input.0, s32[], 4 bytes"));
  EXPECT_THAT(header, HasSubstr("arguments[1]: input.1, f32[3], 12 bytes"));
  EXPECT_THAT(header, HasSubstr("results[0]: result.0, f32[3], 12 bytes"));
  EXPECT_THAT(header, HasSubstr("results[1]: result.1.0, f32[], 4 bytes"));
  EXPECT_THAT(header, HasSubstr("int32_t doubles(const hone_context*"));
}

TEST(ExportModule, SaysWhatItCannotWrite) {
  EXPECT_THAT(
      Export("/tmp/doubles"),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("/tmp/doubles")));
  EXPECT_THAT(Export("/nonexistent/doubles.so"),
              StatusIs(absl::StatusCode::kUnavailable, _));
}

// Writes a shared object of a module with one parameter and one result, and
// loads it.
void* ExportAndLoad(const std::string& text, const std::string& path) {
  const auto module = hlo::ParseHloText(text);
  HONE_EXPECT_OK(module);
  const auto plan = LowerAndSchedule(*module, 1);
  HONE_EXPECT_OK(plan);
  HONE_EXPECT_OK(ExportModule(*module, *plan, /*threads=*/1, path));
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

TEST(ExportModule, HasItsFourierTransforms) {
  const TemporaryDirectory directory;
  void* library = ExportAndLoad(R"(HloModule transform
ENTRY e {
  x = f32[4] parameter(0)
  ROOT y = c64[3] fft(x), fft_type=RFFT, fft_length={4}
})",
                                directory.path() + "/transform.so");
  ASSERT_NE(library, nullptr) << dlerror();
  const auto entry =
      reinterpret_cast<EntryFunction>(dlsym(library, "transform"));
  const float x[] = {1, 2, 3, 4};
  float y[6] = {};
  const void* arguments[] = {x};
  void* results[] = {y};
  EXPECT_EQ(entry(nullptr, arguments, results), HONE_OK);
  EXPECT_THAT(y, ElementsAre(10, 0, -2, 2, -2, 0));
  dlclose(library);
}

constexpr char kCholesky[] = R"(HloModule cholesky
ENTRY e {
  a = f64[2,2] parameter(0)
  ROOT l = f64[2,2] cholesky(a), lower=true
})";

TEST(ExportModule, FindsLapack) {
  const TemporaryDirectory directory;
  void* library = ExportAndLoad(kCholesky, directory.path() + "/factor.so");
  ASSERT_NE(library, nullptr) << dlerror();
  const auto entry = reinterpret_cast<EntryFunction>(dlsym(library, "factor"));
  const double a[] = {4, 2, 2, 10};
  double l[4] = {};
  const void* arguments[] = {a};
  void* results[] = {l};
  EXPECT_EQ(entry(nullptr, arguments, results), HONE_OK);
  EXPECT_THAT(l, ElementsAre(2, 0, 1, 3));
  dlclose(library);
}

// Each library looks for LAPACK at its first call.
TEST(ExportModule, SaysThatThereIsNoLapack) {
  const TemporaryDirectory directory;
  void* library = ExportAndLoad(kCholesky, directory.path() + "/factor.so");
  ASSERT_NE(library, nullptr) << dlerror();
  const auto entry = reinterpret_cast<EntryFunction>(dlsym(library, "factor"));
  const auto message = reinterpret_cast<const char* (*)()>(
      dlsym(library, "factor_error_message"));
  const double a[] = {4, 2, 2, 10};
  double l[4] = {};
  const void* arguments[] = {a};
  void* results[] = {l};
  setenv("HONE_LAPACK", "/nonexistent/lapack.so", 1);
  EXPECT_EQ(entry(nullptr, arguments, results), HONE_ERROR_LIBRARY);
  EXPECT_THAT(message(), HasSubstr("no LAPACK"));
  unsetenv("HONE_LAPACK");
  dlclose(library);
}

// Multiplies each element by a factor; the loop is shared out between threads.
absl::Status ExportScaled(int factor, const std::string& path) {
  const auto program =
      loops::ParseProgram(absl::Substitute("kernel scaled\n"
                                           "argument x f32[300]\n"
                                           "result y f32[300]\n"
                                           "for i 300 parallel\n"
                                           "| y[i] = x[i] * $0.0\n",
                                           factor));
  if (!program.ok()) return program.status();
  return ExportKernel(*program, /*threads=*/2, path);
}

auto ThreadsOfThisProcess() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       std::filesystem::directory_iterator());
}

// Runs `check` in a child, in which there are no threads yet.
bool HoldsInAChild(const std::function<bool()>& check) {
  const pid_t child = fork();
  if (child == 0) _exit(check() ? 0 : 1);
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

// Returns true if a call of the library multiplies by `factor`.
bool Scales(const ExportedLibrary& library, float factor) {
  const std::vector<float> x(300, 3.0f);
  std::vector<float> y(300);
  const void* arguments[] = {x.data()};
  void* results[] = {y.data()};
  return library.Call(nullptr, arguments, results) == HONE_OK &&
         y == std::vector<float>(300, 3.0f * factor);
}

TEST(ExportKernel, AProcessHasOnePoolOfThreads) {
  const TemporaryDirectory directory;
  HONE_ASSERT_OK(ExportScaled(2, directory.path() + "/twice.so"));
  HONE_ASSERT_OK(ExportScaled(3, directory.path() + "/thrice.so"));
  const ExportedLibrary twice(directory.path() + "/twice.so");
  const ExportedLibrary thrice(directory.path() + "/thrice.so");
  EXPECT_TRUE(HoldsInAChild([&] {
    twice.set_threads(1);
    if (!Scales(twice, 2) || ThreadsOfThisProcess() != 1) return false;
    twice.set_threads(3);
    if (!Scales(twice, 2) || ThreadsOfThisProcess() != 3) return false;
    return Scales(thrice, 3) && ThreadsOfThisProcess() == 3;
  }));
  // The pool of kernels in this process is the same.
  EXPECT_TRUE(HoldsInAChild([&] {
    hone_kernel_set_threads(4);
    hone_kernel_parallel_for([](void*, int64_t, int64_t) {}, nullptr, 4);
    return ThreadsOfThisProcess() == 4 && Scales(thrice, 3) &&
           ThreadsOfThisProcess() == 4;
  }));
}

// Loads libraries into a program that knows nothing of Hone.
TEST(ExportKernel, LibrariesOfAnyProgramShareAPool) {
  const TemporaryDirectory directory;
  HONE_ASSERT_OK(ExportScaled(2, directory.path() + "/twice.so"));
  HONE_ASSERT_OK(ExportScaled(3, directory.path() + "/thrice.so"));
  std::ofstream(directory.path() + "/main.c") << R"(
#include <dirent.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
#include "twice.h"
static float x[300], y[300];
static int call(const char* path, const char* name) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  int32_t (*entry)(const hone_context*, const void* const*, void* const*);
  const void* arguments[] = {x};
  void* results[] = {y};
  *(void**)&entry = dlsym(library, name);
  return entry(0, arguments, results);
}
int main(void) {
  int threads = 0;
  if (call("./twice.so", "twice") || call("./thrice.so", "thrice")) return 1;
  DIR* tasks = opendir("/proc/self/task");
  while (readdir(tasks) != 0) ++threads;
  return threads - 2 != 3;  /* without . and .. */
}
)";
  const std::string command =
      absl::StrCat("cd ", directory.path(),
                   " && cc main.c -ldl -o main && HONE_THREADS=3 ./main");
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

TEST(ExportKernel, TwoAreLinkedIntoOneProgram) {
  const TemporaryDirectory directory;
  HONE_ASSERT_OK(ExportScaled(2, directory.path() + "/twice.so"));
  HONE_ASSERT_OK(ExportScaled(3, directory.path() + "/thrice.so"));
  std::ofstream(directory.path() + "/main.c") << R"(
#include <string.h>
#include "twice.h"
#include "thrice.h"
int main(void) {
  static float x[300], y[300], z[300], v[300];
  const void* arguments[] = {x};
  void *two[] = {y}, *three[] = {z}, *first[] = {v};
  hone_context context = HONE_CONTEXT_INIT;
  context.threads = 2;
  for (int i = 0; i < 300; ++i) x[i] = (float)i;
  thrice_set_threads(3);
  if (twice(&context, arguments, two) != HONE_OK) return 1;
  if (thrice(NULL, arguments, three) != HONE_OK) return 1;
  if (thrice_info()->results[0].bytes != 1200) return 1;
  if (twice(NULL, NULL, two) != HONE_ERROR_NULL_ARRAY) return 1;
  if (strstr(twice_error_message(), "arguments is null") == NULL) return 1;
  hone_entry(arguments, first);
  for (int i = 0; i < 300; ++i) {
    if (y[i] != 2.0f * x[i] || z[i] != 3.0f * x[i] || v[i] != y[i]) return 1;
  }
  return 0;
}
)";
  for (const char* compiler :
       {"cc -std=c11 -Wall -Wextra -Wredundant-decls -Werror -pedantic",
        "c++ -xc++ -Wall -Wextra -Werror -pedantic"}) {
    const std::string command = absl::StrCat(
        "cd ", directory.path(), " && ", compiler,
        " main.c -xnone ./twice.so ./thrice.so -Wl,-rpath,. -o main && ./main");
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }
}

// Whatever the file is called, its header is valid C.
TEST(ExportKernel, AnyFileNameGivesAHeader) {
  const TemporaryDirectory directory;
  for (const char* name :
       {"2mm", "int", "", "hone", "hone_kernel", "softmax.8x8", "a-b c",
        "\xce\xb5", "write", "linux", "size_t"}) {
    const std::string library =
        absl::StrCat(directory.path(), "/", name, ".so");
    HONE_ASSERT_OK(ExportScaled(2, library)) << name;
    std::ofstream(directory.path() + "/main.c")
        << "#include \"" << name << ".h\"\n"
        << "int main(void) {\n  static float x[300], y[300];\n"
        << "  const void* arguments[] = {x};\n  void* results[] = {y};\n"
        << "  x[7] = 1;\n  if (" << ExportedNames::Of(library).entry
        << "(NULL, arguments, results) != HONE_OK) return 1;\n  return y[7] != "
           "2.0f;\n}\n";
    const std::string command = absl::StrCat(
        "cd ", directory.path(),
        " && cc -std=c11 -Wall -Wextra -Werror -pedantic main.c './", name,
        ".so' -Wl,-rpath,. -o main && ./main");
    EXPECT_EQ(std::system(command.c_str()), 0) << name;
  }
}

}  // namespace
}  // namespace hone::backends
