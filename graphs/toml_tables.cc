#include "graphs/toml_tables.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hone::graphs {
namespace {

// The parser destroys nested tables recursively: `a.a.a = 1` has three.
constexpr size_t kMaxText = 8 << 10;

absl::Status Error(absl::string_view file, const toml::source_region& where,
                   absl::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat(
      file, ":", where.begin.line, ":", where.begin.column, ": ", message));
}

std::string Names(const std::vector<NumberKey>& keys) {
  return absl::StrJoin(keys, ", ", [](std::string* out, const NumberKey& key) {
    absl::StrAppend(out, key.name);
  });
}

}  // namespace

NumberKey IntegerKey(absl::string_view name, double min, double max,
                     double& value) {
  return {name, min, max, &value, /*is_integer=*/true};
}

NumberKey RateKey(absl::string_view name, double& value) {
  return {name, 1, 1e30, &value};
}

NumberKey SecondsKey(absl::string_view name, double& value) {
  return {name, 0, 3600, &value};
}

absl::StatusOr<TomlTables> TomlTables::Parse(absl::string_view text,
                                             absl::string_view file,
                                             absl::string_view what) {
  if (text.size() > kMaxText) {
    return absl::InvalidArgumentError(absl::StrCat(
        file, ": ", text.size(), " bytes, expected the description of ", what,
        ", of at most ", kMaxText));
  }
  toml::parse_result parsed =
      toml::parse(std::string_view(text.data(), text.size()));
  if (!parsed) {
    return Error(file, parsed.error().source(),
                 absl::StrCat(TomlView(parsed.error().description()),
                              ", expected TOML"));
  }
  TomlTables tables;
  tables.file_ = std::string(file);
  tables.root_ = std::move(parsed).table();
  return tables;
}

absl::Status TomlTables::ErrorAt(const toml::source_region& where,
                                 absl::string_view message) const {
  return Error(file_, where, message);
}

absl::Status TomlTables::ReadTable(absl::string_view name,
                                   const toml::node& node,
                                   const std::vector<NumberKey>& keys,
                                   absl::string_view other) const {
  if (!node.is_table()) {
    return ErrorAt(node.source(), absl::StrCat("\"", name,
                                               "\" is a value, expected a "
                                               "table"));
  }
  const toml::table& table = *node.as_table();
  for (const auto& [key, value] : table) {
    const absl::string_view found = TomlView(key.str());
    if (found != other &&
        std::none_of(keys.begin(), keys.end(),
                     [&](const NumberKey& k) { return k.name == found; })) {
      return ErrorAt(
          key.source(),
          absl::StrCat("unknown key \"", found, "\" in [", name, "], expected ",
                       Names(keys),
                       other.empty() ? "" : absl::StrCat(", ", other)));
    }
  }
  for (const NumberKey& key : keys) {
    const toml::node* const found =
        table.get(std::string_view(key.name.data(), key.name.size()));
    if (found == nullptr && key.is_optional) continue;
    const std::string expected =
        absl::StrCat(key.is_integer ? "an integer from " : "a number from ",
                     TomlNumber(key.min), " to ", TomlNumber(key.max));
    if (found == nullptr) {
      return ErrorAt(table.source(),
                     absl::StrCat("[", name, "] has no \"", key.name,
                                  "\", expected ", expected));
    }
    const std::optional<double> value = key.is_integer && !found->is_integer()
                                            ? std::nullopt
                                            : found->value<double>();
    if (!value.has_value() || !(*value >= key.min && *value <= key.max)) {
      return ErrorAt(found->source(),
                     absl::StrCat("bad value of \"", key.name, "\" in [", name,
                                  "], expected ", expected));
    }
    *key.value = *value;
  }
  return absl::OkStatus();
}

std::string TomlNumber(double value) {
  std::array<char, 32> digits;
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return std::string(digits.data(), end);
}

}  // namespace hone::graphs
