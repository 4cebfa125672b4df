#include "hlo/rewrite/tuples/attributes.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "hlo/inference/annotation_text.h"

namespace hone::hlo {
namespace {

using Parts = std::vector<absl::string_view>;

size_t LeafCount(const Shape& shape) {
  if (!shape.IsTuple()) return 1;
  size_t count = 0;
  for (const ShapePtr& element : shape.tuple_elements()) {
    count += LeafCount(*element);
  }
  return count;
}

std::optional<std::string> ChangedSharding(absl::string_view text,
                                           const Shape& shape,
                                           const ElementChange& change) {
  const auto inside = Enclosed(text, '{', '}');
  if (!inside.has_value()) return std::nullopt;
  if (inside->empty() || inside->front() != '{') return std::string(text);
  const std::optional<Parts> leaves = SplitAtCommas(*inside);
  if (!leaves.has_value() || leaves->size() != LeafCount(shape) ||
      !change.added.empty()) {
    return std::nullopt;
  }
  Parts kept;
  auto leaf = leaves->begin();
  for (size_t i = 0; i < change.kept.size(); ++i) {
    const auto end =
        leaf + static_cast<int64_t>(LeafCount(*shape.tuple_elements()[i]));
    if (change.kept[i]) kept.insert(kept.end(), leaf, end);
    leaf = end;
  }
  // XLA does not read the sharding of a tuple of one element.
  if (kept.size() < 2) return std::nullopt;
  return absl::StrCat("{", absl::StrJoin(kept, ", "), "}");
}

// The origin of a value that stands for nothing of the original program.
std::string NoOrigin(const Shape& shape) {
  if (!shape.IsTuple()) return "{}";
  std::vector<std::string> parts;
  for (const ShapePtr& element : shape.tuple_elements()) {
    parts.push_back(NoOrigin(*element));
  }
  return absl::StrCat("(", absl::StrJoin(parts, ", "), ")");
}

std::optional<std::string> ChangedOrigin(absl::string_view text,
                                         const ElementChange& change) {
  const auto braces = Enclosed(text, '{', '}');
  if (!braces.has_value()) return std::nullopt;
  // `{[synthetic_call]}` and the like name no values.
  if (!braces->empty() && braces->front() == '[') return std::string(text);
  const auto inside = Enclosed(*braces, '(', ')');
  if (!inside.has_value()) return std::nullopt;
  const std::optional<Parts> elements = SplitAtCommas(*inside);
  if (!elements.has_value() || elements->size() != change.kept.size()) {
    return std::nullopt;
  }
  std::vector<std::string> changed;
  for (size_t i = 0; i < change.kept.size(); ++i) {
    if (change.kept[i]) changed.emplace_back((*elements)[i]);
  }
  for (const ShapePtr& shape : change.added) {
    changed.push_back(NoOrigin(*shape));
  }
  return absl::StrCat("{(", absl::StrJoin(changed, ", "), ")}");
}

// Renumbers the elements that the annotation of a loop names.
std::optional<std::string> ChangedConfig(absl::string_view text,
                                         const ElementChange& change) {
  constexpr absl::string_view kIndex = "\"tuple_index\"";
  // Older programs have a list of indices.
  if (absl::StrContains(text, "dynamic_variable_tuple_indices")) {
    return std::nullopt;
  }
  std::string changed;
  for (;;) {
    const size_t name = text.find(kIndex);
    if (name == text.npos) return absl::StrCat(changed, text);
    const size_t begin = text.find_first_of("0123456789", name);
    if (begin == text.npos) return std::nullopt;
    const size_t end = text.find_first_not_of("0123456789", begin);
    const absl::string_view between =
        text.substr(name + kIndex.size(), begin - name - kIndex.size());
    size_t index = 0;
    if (end == text.npos || between.find_first_not_of(": \"") != between.npos ||
        !absl::SimpleAtoi(text.substr(begin, end - begin), &index) ||
        index >= change.kept.size() || !change.kept[index]) {
      return std::nullopt;
    }
    const auto before = change.kept.begin() + static_cast<int64_t>(index);
    absl::StrAppend(&changed, text.substr(0, begin),
                    std::count(change.kept.begin(), before, true));
    text.remove_prefix(end);
  }
}

}  // namespace

std::shared_ptr<const Attributes> ChangedTupleAttributes(
    const Instruction& tuple, const ElementChange& change) {
  if (tuple.attributes().others.empty()) return tuple.attributes_ptr();
  auto attributes = std::make_shared<Attributes>(tuple.attributes());
  attributes->others.clear();
  for (const auto& [name, value] : tuple.attributes().others) {
    std::optional<std::string> changed = value;
    if (name == "sharding") {
      changed = ChangedSharding(value, tuple.shape(), change);
    } else if (name == "origin") {
      changed = ChangedOrigin(value, change);
    } else if (name == "backend_config" && tuple.opcode() == Opcode::kWhile) {
      changed = ChangedConfig(value, change);
    } else if (name == "parameter_replication") {
      changed = std::nullopt;
    }
    if (!changed.has_value()) return nullptr;
    attributes->others.emplace_back(name, *std::move(changed));
  }
  return attributes;
}

}  // namespace hone::hlo
