#ifndef HONE_TESTS_BACKENDS_CPU_EXPORT_EXPORTED_EXAMPLE_H_
#define HONE_TESTS_BACKENDS_CPU_EXPORT_EXPORTED_EXAMPLE_H_

#include <string>
#include <vector>

#include "backends/cpu/kernel_abi.h"
#include "tests/backends/exported_library.h"

namespace hone::testing {

// y = 4 x, z = x + 1, by way of heap memory of the kernel and of each body.
extern const char kExampleProgram[];
inline constexpr size_t kExampleElements = 6400;
inline constexpr int64_t kExampleBytes = 4 * kExampleElements;
inline constexpr float kUnwritten = -7;

// The program, for two threads; loaded once.
const ExportedLibrary& Example();

// A context of defaults.
hone_context Context();

// The arrays of a call of the example.
struct ExampleArrays {
  ExampleArrays();
  int32_t Call(const hone_context* context);
  bool AreRight() const;

  std::vector<float> x;
  std::vector<float> y;
  std::vector<float> z;
};

// Expects a call of the example to fail and to write nothing.
void ExpectError(int32_t code, const std::string& message,
                 const hone_context* context, const void* const* arguments,
                 void* const* results, const ExampleArrays& arrays);

}  // namespace hone::testing

#endif  // HONE_TESTS_BACKENDS_CPU_EXPORT_EXPORTED_EXAMPLE_H_
