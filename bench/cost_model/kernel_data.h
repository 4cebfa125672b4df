#ifndef HONE_BENCH_COST_MODEL_KERNEL_DATA_H_
#define HONE_BENCH_COST_MODEL_KERNEL_DATA_H_

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "bench/cost_model/kernel_samples.h"
#include "costmodels/loop_roofline.h"
#include "space/observation.h"

namespace hone::bench {

// Which kernels a model learns from, which choose among its weights, and which
// it is judged by.
enum class KernelPart { kTraining, kValidation, kTest };
// "training", "validation", "test".
absl::string_view KernelPartName(KernelPart part);

// A division of kernels (kernel_split.json). Either by families, so that a
// model is judged by kernels unlike those that it knows, or at random among the
// kernels of each family.
class KernelSplit {
 public:
  // Reads a split of a file (split_name.h). Errors: NotFound, InvalidArgument.
  static absl::StatusOr<KernelSplit> Read(const std::string& split);

  // Depends on the family and the name of the kernel only.
  KernelPart PartOf(const NamedKernel& kernel) const;

 private:
  std::vector<std::string> validation_families_;
  std::vector<std::string> test_families_;
  // The shares of other kernels, by their names.
  double validation_share_ = 0;
  double test_share_ = 0;
  uint64_t seed_ = 0;
};

// A measured schedule as a cost model sees it (costmodels/loop_features.h).
struct ScheduleFeatures {
  // Null if only features of whole kernels were asked for.
  std::shared_ptr<const space::Observation> graph;
  std::vector<float> config;
  // The natural logarithm of nanoseconds: of the default's time times the
  // paired ratio, or of the least sample if the pairs disagree.
  double log_time = 0;
  // The standard deviation that the pairs say the logarithm has from that of
  // the true time: as if of three pairs, as the fewest are.
  double deviation = 0;
  // The time by costmodels/loop_roofline.h, at the calibrated speed.
  double roofline_ns = 0;
};

// The measured schedules of a kernel.
struct KernelGroup {
  NamedKernel kernel;
  KernelPart part = KernelPart::kTraining;
  double default_ns = 0;
  // Without those that failed. The first is the default.
  std::vector<ScheduleFeatures> schedules;
};

// The speed of a calibrated machine.
costmodels::LoopRates LoopRatesOf(const backends::Calibration& calibration,
                                  const loops::Machine& machine);

// Makes features of the samples of a kernel; graphs too if `with_graphs`.
// Errors: those of parsing and lowering; a script that does not apply, as one
// of another version of the transformations.
absl::StatusOr<KernelGroup> MakeKernelGroup(const KernelSamples& samples,
                                            bool with_graphs);

// Reads a data file (hone dataset kernels). Errors: those of ReadKernelSamples
// and MakeKernelGroup, with the place in the file.
absl::StatusOr<std::vector<KernelGroup>> ReadKernelData(
    const std::string& path, const KernelSplit& split, bool with_graphs);

// Writes groups as a table for Python: a line for each schedule with part,
// family, kernel, log_time and roofline_ns, then
// costmodels::LoopFeatureNames(); a line of names first.
void WriteFeatureTable(const std::vector<KernelGroup>& groups,
                       std::ostream& out);

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_KERNEL_DATA_H_
