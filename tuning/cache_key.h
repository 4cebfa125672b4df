#ifndef HONE_TUNING_CACHE_KEY_H_
#define HONE_TUNING_CACHE_KEY_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "backends/tpu_sim/tpu.h"
#include "graphs/cluster.h"
#include "graphs/mcm/package.h"
#include "tuning/task.h"

namespace hone::tuning {

// Parses the options that Task::OptionsKey wrote as `key`: "name=value" joined
// by ";". Errors: InvalidArgument for anything else; FailedPrecondition for
// another version of the import of modules.
absl::StatusOr<TaskOptions> ParseOptionsKey(absl::string_view key);

// Returns the part of a key for the decisions about a module's graph on a
// cluster: the whole cluster, without its name, and the version of the graph.
std::string ClusterKey(const graphs::Cluster& cluster);
// The same for a package, and the version of its simulator.
std::string PackageKey(const graphs::Package& package);
// The same for a TPU.
std::string TpuKey(const backends::Tpu& tpu);

}  // namespace hone::tuning

#endif  // HONE_TUNING_CACHE_KEY_H_
