#include "bench/partition/partition_graphs.h"

#include <regex>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/json_file.h"
#include "graphs/device_graph_json.h"
#include "graphs/hlo_import.h"
#include "hlo/read_module.h"

namespace hone::bench {

absl::StatusOr<std::vector<PartitionEntry>> ReadPartitionEntries(
    const std::string& directory, const std::string& split,
    const std::string& only) {
  HONE_ASSIGN_OR_RETURN(const std::regex filter, ParseOnly(only));
  const std::string path = absl::StrCat(directory, "/manifest.json");
  HONE_ASSIGN_OR_RETURN(
      const auto manifest,
      ReadJsonFile(path, "a folder of graphs with a manifest"));
  if (!manifest.is_array()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": not a JSON array, expected one entry a graph"));
  }
  std::vector<PartitionEntry> entries;
  for (const auto& item : manifest) {
    for (const char* const field : {"name", "family", "split", "file"}) {
      if (item.is_object() && item.contains(field) && item[field].is_string()) {
        continue;
      }
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": entry ", item.dump(), ", expected a string \"",
                       field, "\""));
    }
    PartitionEntry entry = {
        item["name"], item["family"], item["split"],
        absl::StrCat(directory, "/", item["file"].get<std::string>())};
    if ((split.empty() || entry.split == split) &&
        std::regex_search(entry.name, filter)) {
      entries.push_back(std::move(entry));
    }
  }
  if (entries.empty()) {
    return absl::InvalidArgumentError(
        only.empty() ? absl::StrCat(path, ": no graph of split '", split,
                                    "', expected 1 or more")
                     : absl::StrCat("--only '", only,
                                    "': no graph of that name and split '",
                                    split, "' in ", path));
  }
  return entries;
}

absl::StatusOr<graphs::PartitionGraph> ReadPartitionGraph(
    const PartitionEntry& entry, const graphs::Package& package) {
  if (absl::StrContains(entry.path, ".json")) {
    HONE_ASSIGN_OR_RETURN(const std::string bytes,
                          hlo::ReadFileBytes(entry.path));
    HONE_ASSIGN_OR_RETURN(const graphs::DeviceGraph graph,
                          graphs::ParseDeviceGraph(bytes, entry.path));
    return graphs::PartitionGraph::Create(graph, package);
  }
  HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                        hlo::ReadModuleFile(entry.path));
  HONE_ASSIGN_OR_RETURN(const graphs::OpGraph operators,
                        graphs::ImportHlo(module));
  return graphs::PartitionGraph::Create(operators, package);
}

}  // namespace hone::bench
