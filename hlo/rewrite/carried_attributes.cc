#include "hlo/rewrite/carried_attributes.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "hlo/inference/annotation_text.h"

namespace hone::hlo {
namespace {

constexpr absl::string_view kSharding = "sharding";
constexpr absl::string_view kFrontend = "frontend_attributes";
constexpr absl::string_view kOrigin = "origin";
constexpr absl::string_view kBackendConfig = "backend_config";

bool IsCarried(absl::string_view name) {
  return name == kSharding || name == kFrontend || name == kOrigin;
}

bool IsPrecision(absl::string_view name) {
  return name == "operand_precision" || name == "algorithm";
}

// The entries `key="value"` of frontend attributes; nullopt for text that is
// not of that form.
std::optional<FrontendEntries> Entries(absl::string_view text) {
  const auto inside = Enclosed(text, '{', '}');
  if (!inside.has_value()) return std::nullopt;
  const auto parts = SplitAtCommas(*inside);
  if (!parts.has_value()) return std::nullopt;
  FrontendEntries entries;
  for (absl::string_view part : *parts) {
    const size_t equals = part.find('=');
    if (equals == part.npos || equals + 1 == part.size()) return std::nullopt;
    entries.emplace_back(absl::StripAsciiWhitespace(part.substr(0, equals)),
                         absl::StripAsciiWhitespace(part.substr(equals + 1)));
  }
  return entries;
}

// The union of two frontend attributes; nullopt where they contradict each
// other.
std::optional<std::string> Merge(absl::string_view a, absl::string_view b) {
  auto merged = Entries(a);
  const auto more = Entries(b);
  if (!merged.has_value() || !more.has_value()) return std::nullopt;
  for (const auto& entry : *more) {
    const auto same = std::find_if(
        merged->begin(), merged->end(),
        [&](const auto& other) { return other.first == entry.first; });
    if (same == merged->end()) {
      merged->push_back(entry);
    } else if (same->second != entry.second) {
      return std::nullopt;
    }
  }
  return absl::StrCat(
      "{", absl::StrJoin(*merged, ",", absl::PairFormatter("=")), "}");
}

// How CarryAttributes changes the replacement.
struct Change {
  std::vector<std::pair<std::string, std::string>> added;
  std::optional<std::string> frontend;
};

// Nullopt where the rule refuses.
std::optional<Change> FindChange(const Computation& computation,
                                 InstructionId old, const Instruction& to,
                                 bool is_new) {
  const Instruction& from = computation[old];
  // A root without a sharding leaves that of the module's result open.
  if (computation.root() == old && !is_new &&
      FindAttribute(from, kSharding) == nullptr &&
      FindAttribute(to, kSharding) != nullptr) {
    return std::nullopt;
  }
  if (!AttributesPermitReplacing(from)) return std::nullopt;
  Change change;
  for (const auto& [name, value] : from.attributes().others) {
    if (!IsCarried(name)) continue;
    const std::string* present = FindAttribute(to, name);
    if (present != nullptr) {
      if (*present == value || name == kOrigin) continue;
      if (name != kFrontend || !is_new) return std::nullopt;
      change.frontend = Merge(*present, value);
      if (!change.frontend.has_value()) return std::nullopt;
      continue;
    }
    const bool carry =
        is_new || name == kOrigin ||
        (name == kSharding && to.opcode() != Opcode::kParameter &&
         !IsControlFlow(to.opcode()));
    if (!carry) return std::nullopt;
    change.added.emplace_back(name, value);
  }
  return change;
}

}  // namespace

const std::string* FindAttribute(const Instruction& instruction,
                                 absl::string_view name) {
  return instruction.attributes().FindOther(name);
}

bool AttributesPermitReplacing(const Instruction& instruction) {
  const bool contracts = instruction.opcode() == Opcode::kDot ||
                         instruction.opcode() == Opcode::kConvolution;
  for (const auto& [name, _] : instruction.attributes().others) {
    const bool may_go =
        IsCarried(name) || (contracts && IsPrecision(name)) ||
        (instruction.opcode() == Opcode::kWhile && name == kBackendConfig);
    if (!may_go) return false;
  }
  return true;
}

bool IsControlFlow(Opcode opcode) {
  return opcode == Opcode::kCall || opcode == Opcode::kConditional ||
         opcode == Opcode::kWhile;
}

bool IsAnnotated(const Instruction& instruction) {
  return !instruction.attributes().others.empty() &&
         (FindAttribute(instruction, kSharding) != nullptr ||
          FindAttribute(instruction, kFrontend) != nullptr ||
          !AttributesPermitReplacing(instruction));
}

bool AppliesAnnotated(const Module& module, const Instruction& instruction) {
  if (instruction.called().empty() || IsControlFlow(instruction.opcode())) {
    return false;
  }
  for (ComputationId callee : instruction.called()) {
    for (const Instruction& i : module.computation(callee).instructions()) {
      if (IsAnnotated(i)) return true;
    }
  }
  return false;
}

bool KeepsAnnotations(const Instruction& from, const Instruction& to) {
  if (from.opcode() != to.opcode()) return false;
  for (const auto& [name, value] : from.attributes().others) {
    if (name == kOrigin) continue;
    const std::string* kept = FindAttribute(to, name);
    if (kept == nullptr || *kept != value) return false;
  }
  return true;
}

std::shared_ptr<const Attributes> WithoutCarried(
    const std::shared_ptr<const Attributes>& attributes) {
  const auto carried = [](const auto& attribute) {
    return IsCarried(attribute.first);
  };
  if (std::none_of(attributes->others.begin(), attributes->others.end(),
                   carried)) {
    return attributes;
  }
  auto kept = std::make_shared<Attributes>(*attributes);
  kept->others.erase(
      std::remove_if(kept->others.begin(), kept->others.end(), carried),
      kept->others.end());
  return kept;
}

bool MayCarryAttributes(const Computation& computation, InstructionId old,
                        const Instruction& replacement, bool is_new) {
  return FindChange(computation, old, replacement, is_new).has_value();
}

void CarryAttributes(Computation& computation, InstructionId old,
                     InstructionId replacement, bool is_new) {
  std::optional<Change> change =
      FindChange(computation, old, computation[replacement], is_new);
  if (!change.has_value()) return;
  const Instruction& from = computation[old];
  Instruction& to = computation.mutable_instruction(replacement);
  if (is_new && to.metadata() == nullptr) to.set_metadata(from.metadata());
  if (change->added.empty() && !change->frontend.has_value()) return;
  auto attributes = std::make_shared<Attributes>(to.attributes());
  for (auto& attribute : change->added) {
    attributes->others.push_back(std::move(attribute));
  }
  for (auto& [name, value] : attributes->others) {
    if (name == kFrontend && change->frontend.has_value()) {
      value = *change->frontend;
    }
  }
  to.set_attributes(std::move(attributes));
}

std::optional<FrontendEntries> FrontendAttributes(
    const Instruction& instruction) {
  const std::string* text = FindAttribute(instruction, kFrontend);
  return text == nullptr ? FrontendEntries() : Entries(*text);
}

}  // namespace hone::hlo
