#include "cli/read_cluster.h"

#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/status_macros.h"
#include "graphs/bundled_clusters.h"

namespace hone::cli {

void AddClusterOption(CLI::App& command, std::string& value) {
  command
      .add_option(
          "--cluster", value,
          absl::StrCat("Devices to place a module on: a TOML file, or one of ",
                       absl::StrJoin(graphs::BundledClusters().ids(), ", ")))
      ->type_name("NAME|FILE");
}

absl::StatusOr<std::optional<graphs::Cluster>> ReadCluster(
    const std::string& name_or_path) {
  if (name_or_path.empty()) return std::nullopt;
  if (graphs::BundledClusters().Find(name_or_path).ok()) {
    return graphs::FindCluster(name_or_path);
  }
  std::ifstream file(name_or_path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  // A folder opens, but cannot be read.
  if (!file.good() && !file.eof()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "unknown cluster '", name_or_path, "', expected a TOML file or one of ",
        absl::StrJoin(graphs::BundledClusters().ids(), ", ")));
  }
  return graphs::ParseCluster(text, name_or_path);
}

}  // namespace hone::cli
