#ifndef HONE_BENCH_FAULTS_PRELOADED_LIBRARY_H_
#define HONE_BENCH_FAULTS_PRELOADED_LIBRARY_H_

#include <string>

#include "absl/status/statusor.h"

namespace hone::bench {

// Returns the path of a library of tests/faults beside this executable, for
// LD_PRELOAD. Errors: NotFound in builds without tests.
absl::StatusOr<std::string> FindPreloadedLibrary(const std::string& name);

}  // namespace hone::bench

#endif  // HONE_BENCH_FAULTS_PRELOADED_LIBRARY_H_
