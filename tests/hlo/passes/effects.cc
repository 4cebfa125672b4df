#include "tests/hlo/passes/effects.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"

namespace hone::hlo {
namespace {

bool IsEffect(const Instruction& instruction) {
  switch (instruction.opcode()) {
    // Instructions that only order others or hold them back.
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

// Not what a pass has replaced and left behind.
bool Matters(const Computation& computation, InstructionId id) {
  return id == computation.root() || !computation[id].users().empty() ||
         IsEffect(computation[id]);
}

// Says which control dependency of the entry no longer orders two instructions
// that are both still there, told by their names.
std::optional<std::string> LostOrder(const Module& before,
                                     const Module& after) {
  const Computation& was = before.entry_computation();
  const Computation& is = after.entry_computation();
  if (!was.has_control_dependencies()) return std::nullopt;
  std::map<std::string, InstructionId> ids;
  // The instructions that each instruction waits for.
  std::map<InstructionId, std::set<InstructionId>> waits;
  for (InstructionId i : is.PostOrder()) {
    ids[is[i].name()] = i;
    std::set<InstructionId>& mine = waits[i];
    const auto add = [&](InstructionId j) {
      mine.insert(waits[j].begin(), waits[j].end());
      mine.insert(j);
    };
    for (InstructionId operand : is[i].operands()) add(operand);
    for (InstructionId j : is.control_predecessors(i)) add(j);
  }
  for (InstructionId i : was.LiveInstructions()) {
    for (InstructionId j : was.control_predecessors(i)) {
      const auto first = ids.find(was[j].name());
      const auto second = ids.find(was[i].name());
      if (first == ids.end() || second == ids.end() ||
          !Matters(is, first->second) || !Matters(is, second->second)) {
        continue;
      }
      if (is[first->second].opcode() != was[j].opcode() ||
          is[second->second].opcode() != was[i].opcode() ||
          waits[second->second].contains(first->second)) {
        continue;
      }
      return absl::StrCat(was[i].name(), " no longer waits for ",
                          was[j].name());
    }
  }
  return std::nullopt;
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
  return LostOrder(before, after);
}

}  // namespace hone::hlo
