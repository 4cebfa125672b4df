#include "tests/hlo/passes/effects.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace hone::hlo {
namespace {

bool IsEffect(const Instruction& instruction) {
  switch (instruction.opcode()) {
    // What only orders or holds back.
    case Opcode::kAddDependency:
    case Opcode::kAfterAll:
    case Opcode::kDomain:
    case Opcode::kOptBarrier:
      return false;
    case Opcode::kCustomCall:
      for (const auto& [name, value] : instruction.attributes().others) {
        if (name == "custom_call_has_side_effect") return value == "true";
      }
      return false;
    default:
      return IsOpaque(instruction.opcode());
  }
}

std::string Kind(const Instruction& instruction) {
  std::string kind = absl::StrCat(OpcodeName(instruction.opcode()), " ",
                                  instruction.shape().ToString(), " ",
                                  instruction.attributes().custom_call_target);
  for (const auto& [name, value] : instruction.attributes().others) {
    if (name == "channel_id" || name == "distribution") {
      absl::StrAppend(&kind, " ", name, "=", value);
    }
  }
  return kind;
}

struct Effects {
  std::map<std::string, int64_t> counts;
  // Within loops and conditionals.
  std::set<std::string> conditional;
};

void Collect(const Module& module, ComputationId id, bool conditional,
             Effects& effects) {
  const Computation& computation = module.computation(id);
  for (InstructionId i : computation.LiveInstructions()) {
    const Instruction& instruction = computation[i];
    const bool controls = instruction.opcode() == Opcode::kWhile ||
                          instruction.opcode() == Opcode::kConditional;
    for (ComputationId callee : instruction.called()) {
      Collect(module, callee, conditional || controls, effects);
    }
    if (!IsEffect(instruction)) continue;
    if (conditional) {
      effects.conditional.insert(Kind(instruction));
    } else {
      ++effects.counts[Kind(instruction)];
    }
  }
}

// Pairs of names of effects in the entry of which the first must run before
// the second.
std::set<std::pair<std::string, std::string>> Orders(const Module& module) {
  const Computation& entry = module.entry_computation();
  std::map<InstructionId, std::set<InstructionId>> before;
  std::set<std::pair<std::string, std::string>> orders;
  for (InstructionId i : entry.PostOrder()) {
    std::set<InstructionId>& mine = before[i];
    const auto add = [&](InstructionId j) {
      mine.insert(before[j].begin(), before[j].end());
      if (IsEffect(entry[j])) mine.insert(j);
    };
    for (InstructionId operand : entry[i].operands()) add(operand);
    for (InstructionId j : entry.control_predecessors(i)) add(j);
    if (!IsEffect(entry[i])) continue;
    for (InstructionId j : mine) {
      orders.emplace(entry[j].name(), entry[i].name());
    }
  }
  return orders;
}

std::set<std::string> EffectNames(const Module& module) {
  const Computation& entry = module.entry_computation();
  std::set<std::string> names;
  for (InstructionId i : entry.LiveInstructions()) {
    if (IsEffect(entry[i])) names.insert(entry[i].name());
  }
  return names;
}

}  // namespace

std::optional<std::string> DifferenceInEffects(const Module& before,
                                               const Module& after) {
  Effects was;
  Effects is;
  Collect(before, before.entry(), false, was);
  Collect(after, after.entry(), false, is);
  for (const auto& [kind, count] : was.counts) {
    const int64_t now = is.counts[kind];
    const bool more_is_fine = was.conditional.contains(kind);
    if (now < count || (now > count && !more_is_fine)) {
      return absl::StrCat(kind, " happens ", now, " times, expected ", count);
    }
  }
  for (const auto& [kind, count] : is.counts) {
    if (count > 0 && !was.counts.contains(kind) &&
        !was.conditional.contains(kind)) {
      return absl::StrCat(kind, " happens now, and did not before");
    }
  }
  for (const std::string& kind : is.conditional) {
    if (!was.conditional.contains(kind)) {
      return absl::StrCat(kind, " now depends on a condition");
    }
  }
  const std::set<std::string> names = EffectNames(after);
  const auto orders = Orders(after);
  for (const auto& order : Orders(before)) {
    if (names.contains(order.first) && names.contains(order.second) &&
        !orders.contains(order)) {
      return absl::StrCat(order.second, " no longer waits for ", order.first);
    }
  }
  return std::nullopt;
}

}  // namespace hone::hlo
