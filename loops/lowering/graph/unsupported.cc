#include "loops/lowering/graph/unsupported.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/excerpt.h"
#include "loops/lowering/graph/opcode_traits.h"

namespace hone::loops {

using hlo::ElementType;
using hlo::Opcode;

namespace {

std::string OpcodeOf(const hlo::Instruction& instruction) {
  const std::string& target = instruction.attributes().custom_call_target;
  if (IsLibraryCall(instruction)) {
    return absl::StrCat("library function ", target);
  }
  if (instruction.opcode() == Opcode::kCustomCall) {
    return absl::StrCat("custom-call to \"", Excerpt(target), "\"");
  }
  return instruction.unknown_opcode() == nullptr
             ? std::string(hlo::OpcodeName(instruction.opcode()))
             : Excerpt(*instruction.unknown_opcode());
}

std::string ReasonText(const hlo::Instruction& instruction,
                       absl::string_view why) {
  return absl::StrCat(why.empty() ? "" : ": ", why,
                      FormOf(instruction) == Form::kControlFlow
                          ? ", expected a module without control flow"
                          : "");
}

// Returns the reason that the shape has no kernel; empty if it has one.
std::string ReasonOfShape(const hlo::Shape& shape) {
  if (shape.IsTuple()) {
    for (const hlo::ShapePtr& element : shape.tuple_elements()) {
      std::string why = ReasonOfShape(*element);
      if (!why.empty()) return why;
    }
    return "";
  }
  if (!IsSupportedType(shape.element_type())) {
    return absl::StrCat("element type ",
                        hlo::ElementTypeName(shape.element_type()));
  }
  return shape.is_dynamic() ? "dynamic shape" : "";
}

// Returns true if the instruction only packs, unpacks or forwards arrays.
bool IsTransparent(const hlo::Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kTuple:
    case Opcode::kOptBarrier:
    case Opcode::kGetTupleElement:
      return true;
    default:
      return false;
  }
}

// The instructions without kernels that have the same opcode and reason.
struct Lack {
  std::string opcode;
  std::string first;
  std::string why;
  int64_t count = 0;
};

void AddLack(const hlo::Instruction& instruction, absl::string_view why,
             std::vector<Lack>& lacks) {
  Lack lack{OpcodeOf(instruction), std::string(instruction.name()),
            ReasonText(instruction, why), 1};
  const auto known = absl::c_find_if(lacks, [&](const Lack& other) {
    return other.opcode == lack.opcode && other.why == lack.why;
  });
  if (known == lacks.end()) {
    lacks.push_back(std::move(lack));
  } else {
    ++known->count;
  }
}

// Adds what the root of a computation depends on, and the computations that
// control flow calls.
void AddLacks(const hlo::Module& module, hlo::ComputationId id,
              bool control_flow, absl::flat_hash_set<hlo::ComputationId>& seen,
              std::vector<Lack>& lacks) {
  if (!seen.insert(id).second) return;
  const hlo::Computation& computation = module.computation(id);
  absl::flat_hash_set<hlo::InstructionId> reached = {computation.root()};
  for (hlo::InstructionId parameter : computation.parameters()) {
    reached.insert(parameter);
  }
  const std::vector<hlo::InstructionId> order = computation.PostOrder();
  for (size_t i = order.size(); i-- > 0;) {
    if (!reached.contains(order[i])) continue;
    for (hlo::InstructionId operand : computation[order[i]].operands()) {
      reached.insert(operand);
    }
  }
  for (hlo::InstructionId at : order) {
    const hlo::Instruction& instruction = computation[at];
    if (!reached.contains(at) || IsTransparent(instruction)) continue;
    const Form form = FormOf(instruction);
    if (form == Form::kLibrary && control_flow) continue;
    if (form == Form::kControlFlow && control_flow) {
      for (hlo::ComputationId called : instruction.called()) {
        AddLacks(module, called, control_flow, seen, lacks);
      }
      continue;
    }
    const std::string why = ReasonOfShape(instruction.shape());
    if (form == Form::kUnsupported || IsPlanStep(form) || !why.empty()) {
      AddLack(instruction, why, lacks);
    }
  }
}

}  // namespace

absl::Status Unsupported(const hlo::Instruction& instruction,
                         absl::string_view why) {
  return absl::UnimplementedError(
      absl::StrCat("no kernel for ", OpcodeOf(instruction), " '",
                   instruction.name(), "'", ReasonText(instruction, why)));
}

absl::Status CheckSupported(const hlo::Module& module, bool control_flow) {
  std::vector<Lack> lacks;
  absl::flat_hash_set<hlo::ComputationId> seen;
  AddLacks(module, module.entry(), control_flow, seen, lacks);
  if (lacks.empty()) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "no kernel for ",
      absl::StrJoin(lacks, "; ", [](std::string* out, const Lack& lack) {
        absl::StrAppend(out, lack.opcode, " '", lack.first, "'", lack.why);
        if (lack.count > 1) {
          absl::StrAppend(out, " (and ", lack.count - 1, " more)");
        }
      })));
}

bool IsSupportedType(ElementType type) {
  switch (type) {
    case ElementType::kPred:
    case ElementType::kS8:
    case ElementType::kS16:
    case ElementType::kS32:
    case ElementType::kS64:
    case ElementType::kU8:
    case ElementType::kU16:
    case ElementType::kU32:
    case ElementType::kU64:
    case ElementType::kF16:
    case ElementType::kBf16:
    case ElementType::kF32:
    case ElementType::kF64:
      return true;
    default:
      return false;
  }
}

absl::Status CheckShape(const hlo::Instruction& instruction,
                        const hlo::Shape& shape) {
  const std::string why = ReasonOfShape(shape);
  return why.empty() ? absl::OkStatus() : Unsupported(instruction, why);
}

}  // namespace hone::loops
