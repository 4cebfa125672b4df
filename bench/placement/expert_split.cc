#include "bench/placement/expert_split.h"

#include <cstddef>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include <nlohmann/json.hpp>

#include "base/status_macros.h"
#include "graphs/json_fields.h"

namespace hone::bench {
namespace {

using Json = nlohmann::json;

constexpr int32_t kNone = -1;

class Split {
 public:
  Split(absl::string_view file, const graphs::DeviceGraph& graph)
      : file_(file), graph_(graph), devices_(graph.size(), kNone) {
    for (size_t i = 0; i < graph.size(); ++i) {
      index_of_[graph.node(static_cast<graphs::NodeIndex>(i)).id] = i;
    }
  }

  // Places the nodes of `count` devices from number `first` on.
  absl::Status Place(const Json& document, const char* kind, int32_t first,
                     int32_t count) {
    if (!document.contains(kind) || !document[kind].is_array()) {
      return Error(absl::StrCat("no array \"", kind, "\""));
    }
    const Json& entries = document[kind];
    if (entries.size() > static_cast<size_t>(count)) {
      return Error(absl::StrCat(entries.size(), " ", kind,
                                ", expected at most the graph's ", count));
    }
    int32_t device = first;
    for (const Json& entry : entries) {
      if (!entry.is_object() || !entry.contains("nodes") ||
          !entry["nodes"].is_array()) {
        return Error(absl::StrCat("an entry of \"", kind,
                                  "\" without an array \"nodes\""));
      }
      for (const Json& node : entry["nodes"]) {
        HONE_RETURN_IF_ERROR(PlaceNode(node, device));
      }
      ++device;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<int32_t>> Finish() {
    for (size_t i = 0; i < devices_.size(); ++i) {
      if (devices_[i] != kNone) continue;
      return Error(absl::StrCat(
          "node ", graph_.node(static_cast<graphs::NodeIndex>(i)).id,
          " is on no device"));
    }
    return std::move(devices_);
  }

 private:
  absl::Status PlaceNode(const Json& node, int32_t device) {
    const auto found = node.is_number_integer()
                           ? index_of_.find(node.get<int64_t>())
                           : index_of_.end();
    if (found == index_of_.end()) {
      return Error(
          absl::StrCat("node ", node.dump(), ", expected one of the graph"));
    }
    if (devices_[found->second] != kNone) {
      return Error(absl::StrCat("node ", node.dump(), " is placed twice"));
    }
    devices_[found->second] = device;
    return absl::OkStatus();
  }

  absl::Status Error(absl::string_view message) const {
    return graphs::InFile(file_, absl::InvalidArgumentError(message));
  }

  const absl::string_view file_;
  const graphs::DeviceGraph& graph_;
  absl::flat_hash_map<int64_t, size_t> index_of_;
  std::vector<int32_t> devices_;
};

}  // namespace

absl::StatusOr<std::vector<int32_t>> ParseExpertSplit(
    absl::string_view text, absl::string_view file,
    const graphs::DeviceGraph& graph) {
  const absl::StatusOr<Json> parsed = graphs::ParseJsonObject(text);
  if (!parsed.ok()) return graphs::InFile(file, parsed.status());
  const Json& document = *parsed;
  Split split(file, graph);
  const graphs::DeviceLimits& limits = graph.limits();
  HONE_RETURN_IF_ERROR(split.Place(document, "fpgas", 0, limits.accelerators));
  HONE_RETURN_IF_ERROR(
      split.Place(document, "cpus", limits.accelerators, limits.cpus));
  return split.Finish();
}

}  // namespace hone::bench
