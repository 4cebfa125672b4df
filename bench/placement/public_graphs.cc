#include "bench/placement/public_graphs.h"

#include <regex>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/json_file.h"
#include "bench/placement/expert_split.h"
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
        (item.contains("published") && !item["published"].is_number()) ||
        (item.contains("expert") && !item["expert"].is_boolean())) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": entry ", item.dump(),
          ", expected a name, the published max load if there is one, and "
          "true if there is a split of experts"));
    }
    const auto name = item["name"].get<std::string>();
    if (!std::regex_search(name, filter)) continue;
    const std::string file = absl::StrCat(directory, "/", name, ".json.zst");
    HONE_ASSIGN_OR_RETURN(const std::string bytes, hlo::ReadFileBytes(file));
    HONE_ASSIGN_OR_RETURN(graphs::DeviceGraph graph,
                          graphs::ParseDeviceGraph(bytes, file));
    std::optional<double> published;
    if (item.contains("published")) published = item["published"].get<double>();
    std::optional<std::vector<int32_t>> expert;
    if (item.value("expert", false)) {
      const std::string split =
          absl::StrCat(directory, "/", name, ".expert.json.zst");
      HONE_ASSIGN_OR_RETURN(const std::string text, hlo::ReadFileBytes(split));
      HONE_ASSIGN_OR_RETURN(expert, ParseExpertSplit(text, split, graph));
    }
    graphs.push_back({name, std::move(graph), published, std::move(expert)});
  }
  if (graphs.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--only '", only, "': no graph of that name in ", path));
  }
  return graphs;
}

}  // namespace hone::bench
