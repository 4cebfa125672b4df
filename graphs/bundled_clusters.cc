#include "graphs/bundled_clusters.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "base/embedded_file.h"
#include "base/status_macros.h"

// HONE_CLUSTER_FILES is the folder clusters/.
#define HONE_CLUSTER(symbol, name) \
  HONE_EMBED_FILE(symbol, HONE_CLUSTER_FILES "/" name ".toml");
#include "graphs/clusters.def"
#undef HONE_CLUSTER

namespace hone::graphs {

const Registry<BundledCluster>& BundledClusters() {
  static const auto* const clusters =
      new Registry<BundledCluster>("cluster", {
#define HONE_CLUSTER(symbol, name) {name, HONE_EMBEDDED_FILE(symbol)},
#include "graphs/clusters.def"
#undef HONE_CLUSTER
                                              });
  return *clusters;
}

absl::StatusOr<Cluster> FindCluster(absl::string_view name_or_text) {
  if (absl::StrContains(name_or_text, '=')) {
    return ParseCluster(name_or_text, "<cluster>");
  }
  HONE_ASSIGN_OR_RETURN(const BundledCluster* const cluster,
                        BundledClusters().Find(name_or_text));
  return ParseCluster(cluster->text, absl::StrCat(cluster->id, ".toml"));
}

}  // namespace hone::graphs
