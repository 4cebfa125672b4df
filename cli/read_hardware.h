#ifndef HONE_CLI_READ_HARDWARE_H_
#define HONE_CLI_READ_HARDWARE_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include <CLI/CLI.hpp>

#include "backends/tpu_sim/tpu.h"
#include "graphs/cluster.h"
#include "graphs/mcm/package.h"

namespace hone::cli {

// Adds --cluster, --package and --tpu to a command.
void AddClusterOption(CLI::App& command, std::string& value);
void AddPackageOption(CLI::App& command, std::string& value);
void AddTpuOption(CLI::App& command, std::string& value);

// Returns the cluster that a value of --cluster names: a bundled one, or the
// description in a file of that path; none for an empty value.
// Errors: InvalidArgument, listing the bundled ones if there is no such file;
// those of ParseCluster.
absl::StatusOr<std::optional<graphs::Cluster>> ReadCluster(
    const std::string& name_or_path);
// The same for the package of --package.
absl::StatusOr<std::optional<graphs::Package>> ReadPackage(
    const std::string& name_or_path);

// The same for the TPU of --tpu.
absl::StatusOr<std::optional<backends::Tpu>> ReadTpu(
    const std::string& name_or_path);

}  // namespace hone::cli

#endif  // HONE_CLI_READ_HARDWARE_H_
