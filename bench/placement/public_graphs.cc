#include "bench/placement/public_graphs.h"

#include <regex>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/json_file.h"
#include "graphs/device_graph_json.h"
#include "hlo/read_module.h"

namespace hone::bench {

absl::StatusOr<std::vector<PublicGraph>> ReadPublicGraphs(
    const std::string& directory, const std::string& only) {
  HONE_ASSIGN_OR_RETURN(const std::regex filter, ParseOnly(only));
  const std::string path = directory + "/manifest.json";
  HONE_ASSIGN_OR_RETURN(const auto manifest,
                        ReadJsonFile(path, "graphs (--graphs DIR)"));
  if (!manifest.is_array()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": not a JSON array, expected one entry a graph"));
  }
  std::vector<PublicGraph> graphs;
  for (const auto& item : manifest) {
    if (!item.is_object() || !item.contains("name") ||
        !item["name"].is_string() ||
        (item.contains("published") && !item["published"].is_number())) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": entry ", item.dump(),
          ", expected a name and, if there is one, the published max load"));
    }
    const auto name = item["name"].get<std::string>();
    if (!std::regex_search(name, filter)) continue;
    const std::string file = absl::StrCat(directory, "/", name, ".json.zst");
    HONE_ASSIGN_OR_RETURN(const std::string bytes, hlo::ReadFileBytes(file));
    HONE_ASSIGN_OR_RETURN(graphs::DeviceGraph graph,
                          graphs::ParseDeviceGraph(bytes, file));
    std::optional<double> published;
    if (item.contains("published")) published = item["published"].get<double>();
    graphs.push_back({name, std::move(graph), published});
  }
  if (graphs.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--only '", only, "': no graph of that name in ", path));
  }
  return graphs;
}

}  // namespace hone::bench
