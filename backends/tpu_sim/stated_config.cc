#include "backends/tpu_sim/stated_config.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

namespace hone::backends {
namespace {

constexpr absl::string_view kFrontendAttributes = "frontend_attributes";
constexpr absl::string_view kKey = "hone_tile=";

// Returns the entries of "{a=\"b\",c=\"d, e\"}".
std::vector<std::string> EntriesOf(absl::string_view value) {
  absl::ConsumePrefix(&value, "{");
  absl::ConsumeSuffix(&value, "}");
  std::vector<std::string> entries(1);
  bool in_quotes = false;
  for (size_t i = 0; i < value.size(); ++i) {
    if (in_quotes && value[i] == '\\' && i + 1 < value.size()) {
      absl::StrAppend(&entries.back(), value.substr(i, 2));
      ++i;
      continue;
    }
    if (value[i] == '"') in_quotes = !in_quotes;
    if (value[i] == ',' && !in_quotes) {
      entries.emplace_back();
    } else {
      entries.back().push_back(value[i]);
    }
  }
  for (std::string& entry : entries) absl::StripAsciiWhitespace(&entry);
  std::erase(entries, "");
  return entries;
}

}  // namespace

std::optional<std::string> StatedConfig(const hlo::Instruction& instruction) {
  for (const auto& [name, value] : instruction.attributes().others) {
    if (name != kFrontendAttributes) continue;
    for (const std::string& entry : EntriesOf(value)) {
      absl::string_view text = entry;
      if (absl::ConsumePrefix(&text, kKey) &&
          absl::ConsumePrefix(&text, "\"") &&
          absl::ConsumeSuffix(&text, "\"")) {
        return std::string(text);
      }
    }
  }
  return std::nullopt;
}

void StateConfig(const hlo::KernelConfig& config,
                 hlo::Instruction& instruction) {
  auto attributes = std::make_shared<hlo::Attributes>(instruction.attributes());
  const std::string entry =
      absl::StrCat(kKey, "\"", hlo::PrintKernelConfig(config), "\"");
  for (auto& [name, value] : attributes->others) {
    if (name != kFrontendAttributes) continue;
    std::vector<std::string> entries = EntriesOf(value);
    std::erase_if(entries, [](const std::string& other) {
      return absl::StartsWith(other, kKey);
    });
    entries.push_back(entry);
    value = absl::StrCat("{", absl::StrJoin(entries, ","), "}");
    instruction.set_attributes(std::move(attributes));
    return;
  }
  attributes->others.emplace_back(kFrontendAttributes,
                                  absl::StrCat("{", entry, "}"));
  instruction.set_attributes(std::move(attributes));
}

}  // namespace hone::backends
