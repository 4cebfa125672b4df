#ifndef HONE_GRAPHS_BUNDLED_CLUSTERS_H_
#define HONE_GRAPHS_BUNDLED_CLUSTERS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "base/registry.h"
#include "graphs/cluster.h"

namespace hone::graphs {

// One line of clusters.def: a file of clusters/, which is part of the program.
struct BundledCluster {
  absl::string_view id;
  absl::string_view text;  // TOML
};

const Registry<BundledCluster>& BundledClusters();

// Returns the cluster that `name_or_text` says: the name of a bundled one, or,
// if it has a `=`, a description (ParseCluster).
// Errors: NotFound for an unknown name, listing the known ones; those of
// ParseCluster.
absl::StatusOr<Cluster> FindCluster(absl::string_view name_or_text);

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_BUNDLED_CLUSTERS_H_
