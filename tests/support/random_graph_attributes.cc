// Attributes that any instruction may have.

#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "tests/support/random_graph.h"

namespace hone::testing {

std::string RandomGraph::ShardingText(const Shape& shape) {
  if (shape.IsTuple()) {
    std::vector<std::string> elements;
    for (const hlo::ShapePtr& element : shape.tuple_elements()) {
      elements.push_back(ShardingText(*element));
    }
    return absl::StrCat("{", absl::StrJoin(elements, ", "), "}");
  }
  if (shape.rank() == 0 || Chance(0.3)) return "{replicated}";
  if (Chance(0.1)) return "{maximal device=0}";
  std::vector<int64_t> tiles(static_cast<size_t>(shape.rank()), 1);
  if (Chance(0.2)) {
    tiles.push_back(2);
    return absl::StrCat("{devices=[", absl::StrJoin(tiles, ","),
                        "]<=[2] last_tile_dim_replicate}");
  }
  tiles[Below(tiles.size())] = 2;
  return absl::StrCat("{devices=[", absl::StrJoin(tiles, ","), "]<=[2]}");
}

std::string RandomGraph::OriginText(const Shape& shape) {
  if (!shape.IsTuple()) return absl::StrCat("{\"", NewName("origin"), "\"}");
  std::vector<std::string> elements;
  for (const hlo::ShapePtr& element : shape.tuple_elements()) {
    elements.push_back(OriginText(*element));
  }
  return absl::StrCat("(", absl::StrJoin(elements, ", "), ")");
}

std::string RandomGraph::Decoration(const Shape& shape,
                                    absl::string_view expression) {
  const auto is_due = [&](Feature feature) {
    const int amount = state_.options.amount(feature);
    return amount > 0 && Below(100) < static_cast<uint64_t>(amount);
  };
  const bool has_data =
      shape.IsArray() || (shape.IsTuple() && !shape.tuple_elements().empty() &&
                          shape.tuple_elements().back()->IsArray());
  // On its way through StableHLO, XLA drops what a loop carries unchanged, but
  // not its part of these attributes.
  const bool may_fit = has_data && !(state_.options.established_only &&
                                     absl::StartsWith(expression, "while("));
  // If the module has two partitions, XLA wants effects to have a sharding,
  // and takes parameters that are tuples apart.
  const bool two_partitions = state_.options.amount(Feature::kSharding) > 0 ||
                              state_.options.amount(Feature::kCollectives) > 0;
  const bool has_effect = absl::StrContains(expression, "has_side_effect") ||
                          absl::StartsWith(expression, "rng") ||
                          absl::StartsWith(expression, "infeed") ||
                          absl::StartsWith(expression, "outfeed");
  const bool is_tuple_parameter =
      shape.IsTuple() && absl::StartsWith(expression, "parameter(");
  std::string text;
  if (has_effect && two_partitions) {
    absl::StrAppend(&text, ", sharding=",
                    shape.IsTuple() ? "{{maximal device=0}, {maximal device=0}}"
                                    : "{maximal device=0}");
  } else if (may_fit && is_due(Feature::kSharding) &&
             !absl::StrContains(expression, "channel_id") &&
             shape.tuple_elements().size() != 1) {
    absl::StrAppend(&text, ", sharding=", ShardingText(shape));
  }
  if (!is_tuple_parameter && is_due(Feature::kFrontendAttributes)) {
    absl::StrAppend(
        &text, ", frontend_attributes={",
        OneOf({"note=\"a\"", "note=\"b\",other=\"1\"", "mark=\"\""}), "}");
  }
  if (may_fit && is_due(Feature::kOrigin)) {
    absl::StrAppend(&text, ", origin={", OriginText(shape), "}");
  }
  if (is_due(Feature::kControlDependencies) && !instructions_.empty() &&
      !absl::StartsWith(expression, "parameter(") &&
      !absl::StrContains(expression, "control-predecessors")) {
    std::set<std::string> before;
    for (uint64_t k = 1 + Below(2); k > 0; --k) {
      before.insert(instructions_[Below(instructions_.size())]);
    }
    absl::StrAppend(&text, ", control-predecessors={",
                    absl::StrJoin(before, ", "), "}");
  }
  return text;
}

}  // namespace hone::testing
