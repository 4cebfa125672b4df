#include "cli/read_hardware.h"

#include <cstddef>
#include <fstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "backends/tpu_sim/bundled_tpus.h"
#include "base/status_macros.h"
#include "graphs/bundled_clusters.h"
#include "graphs/mcm/bundled_packages.h"

namespace hone::cli {
namespace {

// More than any description that a parser takes.
constexpr size_t kMaxRead = 64 << 10;

// Errors: InvalidArgument, which says that `path` is no `what`.
absl::StatusOr<std::string> ReadText(
    const std::string& path, absl::string_view what,
    const std::vector<absl::string_view>& names) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxRead, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  // A folder opens, but cannot be read.
  if (!file.is_open() || file.bad()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "unknown ", what, " '", path, "', expected a TOML file or one of ",
        absl::StrJoin(names, ", ")));
  }
  return text;
}

}  // namespace

void AddClusterOption(CLI::App& command, std::string& value) {
  command
      .add_option(
          "--cluster", value,
          absl::StrCat("Devices to place a module on: a TOML file, or one of ",
                       absl::StrJoin(graphs::BundledClusters().ids(), ", ")))
      ->type_name("NAME|FILE");
}

void AddPackageOption(CLI::App& command, std::string& value) {
  command
      .add_option(
          "--package", value,
          absl::StrCat("Chips to partition a graph over: a TOML file, or one "
                       "of ",
                       absl::StrJoin(graphs::BundledPackages().ids(), ", ")))
      ->type_name("NAME|FILE");
}

void AddTpuOption(CLI::App& command, std::string& value) {
  command
      .add_option(
          "--tpu", value,
          absl::StrCat("TPU that kernels run on: a TOML file, or one of ",
                       absl::StrJoin(backends::BundledTpus().ids(), ", ")))
      ->type_name("NAME|FILE");
}

absl::StatusOr<std::optional<graphs::Cluster>> ReadCluster(
    const std::string& name_or_path) {
  if (name_or_path.empty()) return std::nullopt;
  if (graphs::BundledClusters().Find(name_or_path).ok()) {
    return graphs::FindCluster(name_or_path);
  }
  HONE_ASSIGN_OR_RETURN(
      const std::string text,
      ReadText(name_or_path, "cluster", graphs::BundledClusters().ids()));
  return graphs::ParseCluster(text, name_or_path);
}

absl::StatusOr<std::optional<graphs::Package>> ReadPackage(
    const std::string& name_or_path) {
  if (name_or_path.empty()) return std::nullopt;
  if (graphs::BundledPackages().Find(name_or_path).ok()) {
    return graphs::FindPackage(name_or_path);
  }
  HONE_ASSIGN_OR_RETURN(
      const std::string text,
      ReadText(name_or_path, "package", graphs::BundledPackages().ids()));
  return graphs::ParsePackage(text, name_or_path);
}

absl::StatusOr<std::optional<backends::Tpu>> ReadTpu(
    const std::string& name_or_path) {
  if (name_or_path.empty()) return std::nullopt;
  if (backends::BundledTpus().Find(name_or_path).ok()) {
    return backends::FindTpu(name_or_path);
  }
  HONE_ASSIGN_OR_RETURN(
      const std::string text,
      ReadText(name_or_path, "TPU", backends::BundledTpus().ids()));
  return backends::ParseTpu(text, name_or_path);
}

}  // namespace hone::cli
