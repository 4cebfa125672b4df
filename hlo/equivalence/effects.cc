#include "hlo/equivalence/effects.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "hlo/analysis/canonical_encoding.h"
#include "hlo/equivalence/call_counts.h"

namespace hone::hlo {
namespace {

bool IsTrue(const Instruction& instruction, absl::string_view name) {
  const std::string* value = instruction.attributes().FindOther(name);
  return value != nullptr && *value == "true";
}

// The opcode with the target of a custom call, for messages.
std::string NameOf(const Instruction& instruction) {
  if (instruction.unknown_opcode() != nullptr) {
    return *instruction.unknown_opcode();
  }
  std::string name(OpcodeName(instruction.opcode()));
  if (instruction.opcode() == Opcode::kCustomCall) {
    absl::StrAppend(&name, " ", instruction.attributes().custom_call_target);
  }
  return name;
}

// Equal for effects of the same kind, whose sharding may differ; begins with
// NameOf.
std::string KeyOf(const Computation& computation,
                  const Instruction& instruction) {
  std::string key = NameOf(instruction);
  key.push_back('\0');
  absl::StrAppend(&key, instruction.shape().ToString());
  for (InstructionId operand : instruction.operands()) {
    absl::StrAppend(&key, ",", computation[operand].shape().ToString());
  }
  Attributes attributes = instruction.attributes();
  std::erase_if(attributes.others,
                [](const auto& other) { return other.first == "sharding"; });
  AppendAttributeValues(attributes, key);
  return key;
}

struct EffectCounts {
  double all = 0;
  std::map<std::string, double> by_sharding;
};

// The number of effects of each kind.
std::map<std::string, EffectCounts> CountEffects(const Module& module) {
  const std::vector<double> calls = CallCounts(module);
  std::map<std::string, EffectCounts> counts;
  for (const Computation& computation : module.computations()) {
    const double count = calls[static_cast<size_t>(computation.id())];
    if (count == 0) continue;
    for (const Instruction& instruction : computation.instructions()) {
      if (!HasEffect(instruction)) continue;
      EffectCounts& kind = counts[KeyOf(computation, instruction)];
      kind.all += count;
      if (const std::string* sharding =
              instruction.attributes().FindOther("sharding")) {
        kind.by_sharding[*sharding] += count;
      }
    }
  }
  return counts;
}

bool HasOnlyArrays(const Shape& shape) {
  if (!shape.IsTuple()) return shape.IsArray();
  return std::all_of(
      shape.tuple_elements().begin(), shape.tuple_elements().end(),
      [](const ShapePtr& element) { return HasOnlyArrays(*element); });
}

}  // namespace

bool HasEffect(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kUnknown:
    case Opcode::kAllGatherDone:
    case Opcode::kAllGatherStart:
    case Opcode::kAllReduceDone:
    case Opcode::kAllReduceStart:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectivePermuteDone:
    case Opcode::kCollectivePermuteStart:
    case Opcode::kInfeed:
    case Opcode::kOutfeed:
    case Opcode::kRecv:
    case Opcode::kRecvDone:
    case Opcode::kRng:
    case Opcode::kRngGetAndUpdateState:
    case Opcode::kSend:
    case Opcode::kSendDone:
      return true;
    case Opcode::kAllGather:
    case Opcode::kAllReduce:
    case Opcode::kAllToAll:
    case Opcode::kCollectivePermute:
    case Opcode::kCollectiveReduce:
    case Opcode::kRaggedAllToAll:
    case Opcode::kReduceScatter:
      return instruction.attributes().FindOther("channel_id") != nullptr ||
             IsTrue(instruction, "constrain_layout");
    case Opcode::kCustomCall:
      return IsTrue(instruction, "custom_call_has_side_effect");
    default:
      return false;
  }
}

std::optional<std::string> EffectDifference(const Module& a, const Module& b) {
  const std::map<std::string, EffectCounts> of_a = CountEffects(a);
  std::map<std::string, EffectCounts> of_b = CountEffects(b);
  const auto difference = [](const std::string& key, absl::string_view sharding,
                             double x, double y) {
    return absl::StrCat("side effect ", key.c_str(),
                        sharding.empty() ? "" : " with sharding ", sharding,
                        ": ", x, " in the original, ", y, " in the rewrite");
  };
  for (const auto& [key, counts] : of_a) {
    const auto other = of_b.extract(key);
    EffectCounts found;
    if (!other.empty()) found = other.mapped();
    if (found.all != counts.all) {
      return difference(key, "", counts.all, found.all);
    }
    for (const auto& [sharding, count] : counts.by_sharding) {
      if (found.by_sharding[sharding] >= count) continue;
      return difference(key, sharding, count, found.by_sharding[sharding]);
    }
  }
  if (of_b.empty()) return std::nullopt;
  return difference(of_b.begin()->first, "", 0, of_b.begin()->second.all);
}

absl::StatusOr<Module> WithEffectOperands(const Module& module) {
  const std::vector<double> calls = CallCounts(module);
  for (const Computation& computation : module.computations()) {
    if (computation.id() == module.entry() ||
        calls[static_cast<size_t>(computation.id())] == 0) {
      continue;
    }
    for (const Instruction& instruction : computation.instructions()) {
      if (!HasEffect(instruction)) continue;
      return absl::UnimplementedError(absl::StrCat(
          "cannot evaluate ", NameOf(instruction), " ", instruction.name(),
          ": a side effect in ", computation.name(),
          ", expected it in the entry computation"));
    }
  }
  const Computation& entry = module.entry_computation();
  std::vector<std::pair<std::string, InstructionId>> effects;
  for (InstructionId id : entry.PostOrder()) {
    if (HasEffect(entry[id])) effects.emplace_back(KeyOf(entry, entry[id]), id);
  }
  if (effects.empty()) return module;
  std::stable_sort(
      effects.begin(), effects.end(),
      [](const auto& x, const auto& y) { return x.first < y.first; });

  Module extended = module;
  Computation& computation = extended.mutable_computation(extended.entry());
  const InstructionId root = computation.root();
  std::vector<InstructionId> elements;
  std::vector<ShapePtr> shapes;
  std::vector<ShapePtr> result_shapes;
  const auto add = [&](InstructionId id, const ShapePtr& result_shape) {
    elements.push_back(id);
    shapes.push_back(computation[id].shape_ptr());
    result_shapes.push_back(result_shape);
  };
  const Shape shape = computation[root].shape();
  if (!shape.IsTuple()) add(root, extended.entry_result_shape());
  for (int64_t i = 0; i < static_cast<int64_t>(shape.tuple_elements().size());
       ++i) {
    // A root that is not a tuple instruction (a call, a loop) is taken apart.
    add(computation[root].opcode() == Opcode::kTuple
            ? computation[root].operand(static_cast<size_t>(i))
            : computation.AddInstruction(Instruction::GetTupleElement(
                  shape.tuple_element(i), root, static_cast<int32_t>(i))),
        extended.entry_result_shape()->tuple_element(i));
  }
  for (const auto& [_, effect] : effects) {
    const InstructionIds operands = computation[effect].operands();
    for (InstructionId operand : operands) {
      if (!HasOnlyArrays(computation[operand].shape())) continue;
      add(operand, computation[operand].shape_ptr());
    }
  }
  computation.set_root(computation.AddInstruction(
      Instruction(Opcode::kTuple, Shape::Tuple(std::move(shapes)), elements)));
  extended.set_entry_shapes(extended.entry_parameter_shapes(),
                            Shape::Tuple(std::move(result_shapes)));
  return extended;
}

}  // namespace hone::hlo
