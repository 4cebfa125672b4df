#include "hlo/rewrite/tuple_attributes.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hone::hlo {
namespace {

using Parts = std::vector<absl::string_view>;

// The parts of `text` between the commas that are outside of brackets, quotes
// and comments; nullopt where brackets do not match.
std::optional<Parts> SplitAtCommas(absl::string_view text) {
  Parts parts;
  if (absl::StripAsciiWhitespace(text).empty()) return parts;
  int depth = 0;
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (absl::StartsWith(text.substr(i), "/*")) {
      const size_t end = text.find("*/", i);
      if (end == text.npos) return std::nullopt;
      if (absl::StripAsciiWhitespace(text.substr(begin, i - begin)).empty()) {
        begin = end + 2;
      }
      i = end + 1;
    } else if (c == '{' || c == '(' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ')' || c == ']') {
      if (--depth < 0) return std::nullopt;
    } else if (c == ',' && depth == 0) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  if (quoted || depth != 0) return std::nullopt;
  parts.push_back(text.substr(begin));
  for (absl::string_view& part : parts) part = absl::StripAsciiWhitespace(part);
  return parts;
}

// The text between `open` and `close`; nullopt where these do not enclose it.
std::optional<absl::string_view> Inside(absl::string_view text, char open,
                                        char close) {
  text = absl::StripAsciiWhitespace(text);
  if (text.size() < 2 || text.front() != open || text.back() != close) {
    return std::nullopt;
  }
  return absl::StripAsciiWhitespace(text.substr(1, text.size() - 2));
}

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
  const auto inside = Inside(text, '{', '}');
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
  if (kept.empty()) return std::nullopt;
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
  const auto braces = Inside(text, '{', '}');
  if (!braces.has_value()) return std::nullopt;
  const auto inside = Inside(*braces, '(', ')');
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
    if (changed.has_value()) {
      attributes->others.emplace_back(name, *std::move(changed));
    }
  }
  return attributes;
}

}  // namespace hone::hlo
