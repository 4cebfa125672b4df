#ifndef HONE_BENCH_PYTHON_SCRIPT_H_
#define HONE_BENCH_PYTHON_SCRIPT_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include <nlohmann/json.hpp>

#include "base/child_process.h"

namespace hone::bench {

// Runs a process and writes its standard output to `out`. Returns its exit
// status. Errors: Internal if it cannot be started, FailedPrecondition if a
// signal ended it.
absl::StatusOr<int> RunProcess(ChildProcessOptions options, std::ostream& out);

// Errors: FailedPrecondition unless `python` is an interpreter that can import
// `modules`, e.g. "jax, torch".
absl::Status CheckPython(const std::string& python, const std::string& modules,
                         std::ostream& out);

// Errors: InvalidArgument unless `rounds` is even and at least 6, as the
// intervals of bench/kernels need it.
absl::Status CheckRounds(int32_t rounds);

// Runs `script` of bench/kernels, which prints a table and writes a document to
// the file after `-o`, and returns that document. It gets this program as
// `--hone`. `result`: the file; empty: a temporary one. The working directory
// is the root of the source tree. Errors: FailedPrecondition if the document is
// not there, or lacks `"complete": true`.
absl::StatusOr<nlohmann::ordered_json> RunScript(
    const std::string& python, const std::string& script,
    std::vector<std::string> arguments, const std::string& result,
    std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_PYTHON_SCRIPT_H_
