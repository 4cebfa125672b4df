#include "learning/cost/cost_samples.h"

#include <algorithm>
#include <cmath>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/status_macros.h"

namespace hone::learning {
namespace {

absl::Status WrongCount(absl::string_view what, size_t actual,
                        int64_t expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("cost model: ", actual, " ", what, ", expected ", expected));
}

absl::Status CheckNumbers(absl::string_view what,
                          absl::Span<const float> numbers, int64_t expected) {
  if (numbers.size() != static_cast<size_t>(expected)) {
    return WrongCount(what, numbers.size(), expected);
  }
  for (const float x : numbers) {
    if (std::isfinite(x)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "cost model: ", x, " among ", what, ", expected finite numbers"));
  }
  return absl::OkStatus();
}

absl::Status CheckIndices(absl::string_view what,
                          const std::vector<int32_t>& indices, int64_t end) {
  for (const int32_t index : indices) {
    if (index >= 0 && index < end) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "cost model: ", what, " ", index, ", expected 0 to ", end - 1));
  }
  return absl::OkStatus();
}

absl::Status CheckGraph(const space::ObservationSpec& spec,
                        const space::Observation& graph) {
  const auto nodes = static_cast<int64_t>(graph.node_kinds.size());
  const auto edges = static_cast<int64_t>(graph.edge_sources.size());
  HONE_RETURN_IF_ERROR(
      CheckIndices("node of kind", graph.node_kinds, spec.node_kinds));
  HONE_RETURN_IF_ERROR(CheckNumbers("node features", graph.node_features,
                                    nodes * spec.node_features));
  if (graph.edge_targets.size() != graph.edge_sources.size()) {
    return WrongCount("ends of edges", graph.edge_targets.size(), edges);
  }
  HONE_RETURN_IF_ERROR(
      CheckIndices("edge from node", graph.edge_sources, nodes));
  HONE_RETURN_IF_ERROR(CheckIndices("edge to node", graph.edge_targets, nodes));
  HONE_RETURN_IF_ERROR(CheckNumbers("edge features", graph.edge_features,
                                    edges * spec.edge_features));
  return CheckNumbers("global features", graph.global_features,
                      spec.global_features);
}

absl::Status CheckNames(absl::string_view what,
                        const std::vector<std::string>& names, int32_t count) {
  if (count < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("cost model: ", count, " ", what, ", expected 0 or more"));
  }
  if (!names.empty() && names.size() != static_cast<size_t>(count)) {
    return WrongCount(absl::StrCat("names of ", what), names.size(), count);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int32_t> FindHead(const CostSpec& spec, absl::string_view name) {
  for (size_t i = 0; i < spec.heads.size(); ++i) {
    if (spec.heads[i].name == name) return static_cast<int32_t>(i);
  }
  return absl::NotFoundError(
      absl::StrCat("cost model: no head '", name, "', expected one of: ",
                   absl::StrJoin(spec.heads, ", ",
                                 [](std::string* out, const CostHead& head) {
                                   absl::StrAppend(out, head.name);
                                 })));
}

absl::Status CheckCostSpec(const CostSpec& spec) {
  const space::ObservationSpec& graph = spec.graph;
  HONE_RETURN_IF_ERROR(
      CheckNames("node kinds", graph.node_kind_names, graph.node_kinds));
  HONE_RETURN_IF_ERROR(CheckNames("node features", graph.node_feature_names,
                                  graph.node_features));
  HONE_RETURN_IF_ERROR(CheckNames("edge features", graph.edge_feature_names,
                                  graph.edge_features));
  HONE_RETURN_IF_ERROR(CheckNames("global features", graph.global_feature_names,
                                  graph.global_features));
  if (graph.node_kinds < 1) return WrongCount("node kinds", 0, 1);
  if (!graph.node_kind_names.empty() &&
      graph.node_kind_names[0] != kUnknownKind) {
    return absl::InvalidArgumentError(
        absl::StrCat("cost model: node kind 0 is '", graph.node_kind_names[0],
                     "', expected '", kUnknownKind, "'"));
  }
  if (spec.heads.empty()) {
    return absl::InvalidArgumentError(
        "cost model: no heads, expected 1 or more");
  }
  absl::flat_hash_set<absl::string_view> names;
  for (const CostHead& head : spec.heads) {
    // Names of Torch's parameters contain them.
    const bool is_name =
        !head.name.empty() &&
        std::all_of(head.name.begin(), head.name.end(), [](char c) {
          return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
        });
    if (is_name && names.insert(head.name).second) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "cost model: head '", head.name,
        "', expected distinct names of letters, digits and underscores"));
  }
  return absl::OkStatus();
}

absl::Status CheckQueries(const CostSpec& spec,
                          absl::Span<const CostQuery> queries) {
  absl::flat_hash_set<const space::Observation*> checked;
  for (const CostQuery& query : queries) {
    if (query.graph == nullptr) {
      return absl::InvalidArgumentError(
          "cost model: a sample without a graph, expected one each");
    }
    HONE_RETURN_IF_ERROR(
        CheckNumbers("features of a configuration", query.config,
                     static_cast<int64_t>(spec.config_names.size())));
    if (!checked.insert(query.graph).second) continue;
    HONE_RETURN_IF_ERROR(CheckGraph(spec.graph, *query.graph));
  }
  return absl::OkStatus();
}

absl::Status CheckGroups(const CostSpec& spec,
                         absl::Span<const CostGroup> groups) {
  std::vector<CostQuery> queries;
  for (const CostGroup& group : groups) {
    if (group.head < 0 ||
        static_cast<size_t>(group.head) >= spec.heads.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("cost model: a group for head ", group.head,
                       ", expected 0 to ", spec.heads.size() - 1));
    }
    if (group.samples.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("cost model: a group of program '", group.program,
                       "' without samples, expected 1 or more"));
    }
    if (!std::isfinite(group.weight) || group.weight < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("cost model: a group of weight ", group.weight,
                       ", expected a number from 0 up"));
    }
    for (const CostSample& sample : group.samples) {
      if (std::isfinite(sample.log_time)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("cost model: a sample of program '", group.program,
                       "' with the logarithmic time ", sample.log_time,
                       ", expected a finite number"));
    }
    AppendQueries(group, queries);
  }
  return CheckQueries(spec, queries);
}

void AppendQueries(const CostGroup& group, std::vector<CostQuery>& queries) {
  for (const CostSample& sample : group.samples) {
    queries.push_back({sample.graph.get(), sample.config});
  }
}

}  // namespace hone::learning
