#include "graphs/bundled_clusters.h"

#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"

// HONE_CLUSTER_FILES is the folder clusters/; the assembler puts the files into
// the object.
#define HONE_CLUSTER(symbol, name)             \
  __asm__(                                     \
      ".section .rodata\n"                     \
      ".global " #symbol "\n" #symbol          \
      ":\n"                                    \
      ".incbin \"" HONE_CLUSTER_FILES "/" name \
      ".toml\"\n"                              \
      ".global " #symbol "_end\n" #symbol      \
      "_end:\n.byte 0\n"                       \
      ".previous\n");                          \
  extern "C" const char symbol[];              \
  extern "C" const char symbol##_end[];
#include "graphs/clusters.def"
#undef HONE_CLUSTER

namespace hone::graphs {

const Registry<BundledCluster>& BundledClusters() {
  static const auto* const clusters =
      new Registry<BundledCluster>("cluster", {
#define HONE_CLUSTER(symbol, name) \
  {name, {symbol, static_cast<size_t>(symbol##_end - symbol)}},
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
