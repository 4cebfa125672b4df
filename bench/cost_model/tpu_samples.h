#ifndef HONE_BENCH_COST_MODEL_TPU_SAMPLES_H_
#define HONE_BENCH_COST_MODEL_TPU_SAMPLES_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "hlo/ir/module.h"
#include "hlo/tiles/kernel_config.h"

namespace hone::bench {

// A simulated configuration.
struct TileSample {
  hlo::KernelConfig config;
  double ns = 0;
};

// The configurations of one kernel: a line of a data file. The first is what a
// compiler without a model chooses.
struct TpuSamples {
  std::string program;
  std::string family;
  // "v4": the description of the TPU.
  std::string device;
  // HLO text of the kernel.
  std::string kernel;
  std::vector<TileSample> samples = {};
};

// The start of each line of a data file.
inline constexpr absl::string_view kTpuLineBegin = R"({"program":)";

// Returns a line without its end: JSON.
std::string PrintTpuSamples(const TpuSamples& samples);

// Parses a line; `where` begins errors. Errors: InvalidArgument for what is no
// such line.
absl::StatusOr<TpuSamples> ParseTpuSamples(absl::string_view line,
                                           absl::string_view where);

// Returns the kernel of a line. Errors: those of parsing and verifying it.
absl::StatusOr<hlo::Module> ParseTpuKernel(const TpuSamples& samples);

// Calls `use` for each line of a data file, in order. Errors: NotFound;
// "FILE:LINE: …", those of ParseTpuSamples and of `use`.
absl::Status ReadTpuSamples(const std::string& path,
                            const std::function<absl::Status(TpuSamples)>& use);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_TPU_SAMPLES_H_
