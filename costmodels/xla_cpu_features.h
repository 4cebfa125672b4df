#ifndef HONE_COSTMODELS_XLA_CPU_FEATURES_H_
#define HONE_COSTMODELS_XLA_CPU_FEATURES_H_

#include <array>
#include <cstddef>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "costmodels/xla_cpu_kernels.h"
#include "hlo/ir/module.h"

namespace hone::costmodels {

// The terms of a kernel's time, a weighted sum, each with the nanoseconds that
// one unit costs. Counts of elements are of loop iterations, of flops and so on
// of their executions; bytes are of what is touched at the kernel's boundary.
enum XlaCpuFeature : size_t {
#define HONE_XLA_CPU_FEATURE(enumerator, name, ns) enumerator,
#include "costmodels/xla_cpu_features.def"
#undef HONE_XLA_CPU_FEATURE
  kXlaCpuFeatureCount
};

using XlaCpuFeatures = std::array<double, kXlaCpuFeatureCount>;

// The names of the features, in order.
absl::Span<const absl::string_view> XlaCpuFeatureNames();

// Returns the features of one execution of a kernel of `computation`. Bodies of
// loops, branches and called computations are not part of it.
XlaCpuFeatures FeaturesOf(const hlo::Module& module,
                          const hlo::Computation& computation,
                          const XlaCpuKernel& kernel);

// Returns the features of one execution of the entry computation: a loop counts
// its known trip count times, a conditional the branch that takes longest.
XlaCpuFeatures FeaturesOf(const hlo::Module& module);

// Returns the nanoseconds of a kernel or a module with these features.
double XlaCpuNs(const XlaCpuFeatures& features);

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_XLA_CPU_FEATURES_H_
