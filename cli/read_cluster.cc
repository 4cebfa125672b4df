#include "cli/read_cluster.h"

#include <cstddef>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/status_macros.h"
#include "graphs/bundled_clusters.h"

namespace hone::cli {
namespace {

// More than any description that ParseCluster takes.
constexpr size_t kMaxRead = 64 << 10;

}  // namespace

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
  std::string text(kMaxRead, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  // A folder opens, but cannot be read.
  if (!file.is_open() || file.bad()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "unknown cluster '", name_or_path, "', expected a TOML file or one of ",
        absl::StrJoin(graphs::BundledClusters().ids(), ", ")));
  }
  return graphs::ParseCluster(text, name_or_path);
}

}  // namespace hone::cli
