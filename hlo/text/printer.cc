#include "hlo/text/printer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "hlo/text/attributes.h"
#include "hlo/text/lexer.h"
#include "hlo/text/literal.h"

namespace hone::hlo {
namespace {

// `name` with everything replaced that no reader takes for a name.
std::string ReadableName(absl::string_view name) {
  std::string result(name);
  for (char& c : result) {
    if (!IsNameCharacter(c)) c = '_';
  }
  const bool starts_well =
      !result.empty() &&
      (absl::ascii_isalpha(static_cast<unsigned char>(result[0])) ||
       result[0] == '_');
  if (!starts_well) result = absl::StrCat("_", result);
  // XLA reads the names of types as such, and has no tuple among them.
  if (ParseElementType(result).has_value() && result != "tuple" &&
      result != "b") {
    result = absl::StrCat(result, "_");
  }
  return result;
}

// Words that XLA takes for names behind a `%` only.
bool NeedsPercent(absl::string_view name) {
  switch (name[0]) {
    case 'R':
      return name == "ROOT";
    case 'E':
      return name == "ENTRY";
    case 'H':
      return name == "HloModule";
    case 't':
      return name == "true";
    case 'f':
      return name == "false";
    case 'i':
      return name == "inf";
    case 'n':
      return name == "nan";
    case 'm':
      return name == "maximal" || name == "manual";
    case 'r':
      return name == "replicated";
    case 'l':
      return name == "last_tile_dim_replicate";
    case 's':
      return name == "shard_as" || name == "shard_like";
    case 'u':
      return name == "unknown" || name == "unreduced";
    default:
      return false;
  }
}

// Unique readable names, in the order asked for.
class NameTable {
 public:
  std::string Choose(absl::string_view wanted) {
    std::string name = ReadableName(wanted);
    while (!taken_.insert(name).second) {
      name = absl::StrCat(wanted.empty() ? "_" : ReadableName(wanted), ".",
                          next_++);
    }
    return name;
  }

 private:
  absl::flat_hash_set<std::string> taken_;
  int64_t next_ = 1;
};

absl::string_view OpcodeText(const Instruction& instruction) {
  return instruction.unknown_opcode() != nullptr
             ? absl::string_view(*instruction.unknown_opcode())
             : OpcodeName(instruction.opcode());
}

// The printed name of every live instruction, by id. Given names come first,
// so that those made up never take them.
std::vector<std::string> InstructionNames(const Computation& computation) {
  std::vector<std::string> names(static_cast<size_t>(computation.slot_count()));
  NameTable table;
  for (const bool named : {true, false}) {
    for (const Instruction& instruction : computation.instructions()) {
      if (instruction.name().empty() == named) continue;
      names[static_cast<size_t>(instruction.id())] =
          table.Choose(named ? absl::string_view(instruction.name())
                             : OpcodeText(instruction));
    }
  }
  return names;
}

// Slot order where operands stand before their users in it, which is true of
// modules as read, so that printing keeps their order; else PostOrder.
std::vector<InstructionId> PrintOrder(const Computation& computation) {
  std::vector<InstructionId> slots = computation.LiveInstructions();
  const bool topological =
      std::all_of(slots.begin(), slots.end(), [&](InstructionId id) {
        const auto before = [id](InstructionId other) { return other < id; };
        const auto control = computation.control_predecessors(id);
        return std::all_of(computation[id].operands().begin(),
                           computation[id].operands().end(), before) &&
               std::all_of(control.begin(), control.end(), before);
      });
  return topological ? slots : computation.PostOrder();
}

class Printer {
 public:
  Printer(const Module& module, const PrintOptions& options)
      : module_(module), options_(options) {
    computation_names_.resize(static_cast<size_t>(module.computation_slots()));
    NameTable table;
    for (const Computation& computation : module.computations()) {
      computation_names_[static_cast<size_t>(computation.id())] =
          table.Choose(computation.name());
    }
  }

  std::string TakeText() { return std::move(out_); }

  void AppendModule() {
    absl::StrAppend(&out_, "HloModule ", ReadableName(module_.name()));
    if (module_.is_scheduled()) out_ += ", is_scheduled=true";
    AppendEntryLayout();
    for (const auto& [name, value] : module_.header()) {
      absl::StrAppend(&out_, ", ", name, "=", value);
    }
    out_ += "\n\n";
    if (!module_.stack_frame_tables().empty()) {
      absl::StrAppend(&out_, module_.stack_frame_tables(), "\n\n");
    }
    bool first = true;
    for (ComputationId id : module_.ComputationPostOrder()) {
      if (!first) out_ += '\n';
      first = false;
      AppendComputation(id);
    }
  }

  void AppendInstruction(const Computation& computation, InstructionId id,
                         const std::vector<std::string>& names) {
    const Instruction& instruction = computation[id];
    if (id == computation.root()) out_ += "ROOT ";
    AppendName(names[static_cast<size_t>(id)]);
    out_ += " = ";
    AppendShape(instruction.shape());
    absl::StrAppend(&out_, " ", OpcodeText(instruction), "(");
    if (instruction.opcode() == Opcode::kParameter) {
      absl::StrAppend(&out_, instruction.index());
    } else if (instruction.literal() != nullptr) {
      AppendLiteral(*instruction.literal(), out_);
    }
    for (size_t i = 0; i < instruction.operand_count(); ++i) {
      if (i > 0) out_ += i % 5 == 0 ? ", /*index=" : ", ";
      if (i > 0 && i % 5 == 0) absl::StrAppend(&out_, i, "*/");
      AppendName(names[static_cast<size_t>(instruction.operand(i))]);
    }
    out_ += ')';
    AppendAttributes(instruction, out_);
    AppendCallees(computation, instruction);
    const auto control = computation.control_predecessors(id);
    for (size_t i = 0; i < control.size(); ++i) {
      out_ += i == 0 ? ", control-predecessors={" : ", ";
      AppendName(names[static_cast<size_t>(control[i])]);
    }
    if (!control.empty()) out_ += '}';
    if (instruction.metadata() != nullptr) {
      absl::StrAppend(&out_, ", metadata={", *instruction.metadata(), "}");
    }
  }

 private:
  void AppendName(absl::string_view name) {
    if (NeedsPercent(name)) out_ += '%';
    out_.append(name.data(), name.size());
  }

  void AppendComputationName(ComputationId id) {
    AppendName(computation_names_[static_cast<size_t>(id)]);
  }

  void AppendShape(const Shape& shape) {
    std::string& text = shapes_[&shape];
    if (text.empty()) text = shape.ToString(options_.layouts);
    out_ += text;
  }

  void AppendEntryLayout() {
    if (module_.entry_result_shape() == nullptr) return;
    out_ += ", entry_computation_layout={(";
    bool first = true;
    for (const ShapePtr& shape : module_.entry_parameter_shapes()) {
      if (!first) out_ += ", ";
      first = false;
      AppendShape(*shape);
    }
    out_ += ")->";
    AppendShape(*module_.entry_result_shape());
    out_ += '}';
  }

  void AppendComputation(ComputationId id) {
    const Computation& computation = module_.computation(id);
    if (id == module_.entry()) out_ += "ENTRY ";
    AppendComputationName(id);
    out_ += " {\n";
    const std::vector<std::string> names = InstructionNames(computation);
    for (InstructionId instruction : PrintOrder(computation)) {
      out_ += "  ";
      AppendInstruction(computation, instruction, names);
      out_ += '\n';
    }
    out_ += '}';
    if (!computation.suffix().empty()) {
      absl::StrAppend(&out_, ", ", computation.suffix());
    }
    out_ += '\n';
  }

  void AppendCallees(const Computation& computation,
                     const Instruction& instruction) {
    const ComputationIds& called = instruction.called();
    size_t next = 0;
    // Roles that the opcode does not imply are among the others, with a `%` for
    // each callee.
    for (const auto& [name, value] : instruction.attributes().others) {
      if (CallRoleOf(name) == CallRole::kNone) continue;
      absl::StrAppend(&out_, ", ", name, "=");
      for (char c : value) {
        if (c != '%') {
          out_ += c;
        } else if (next < called.size()) {
          AppendComputationName(called[next++]);
        }
      }
    }
    if (next == called.size()) return;
    std::vector<CallRole> roles;
    switch (instruction.opcode()) {
      case Opcode::kWhile:
        roles = {CallRole::kCondition, CallRole::kBody};
        break;
      case Opcode::kSelectAndScatter:
        roles = {CallRole::kSelect, CallRole::kScatter};
        break;
      case Opcode::kConditional:
        if (instruction.operand_count() > 0 &&
            computation[instruction.operand(0)].shape().element_type() ==
                ElementType::kPred) {
          roles = {CallRole::kTrueComputation, CallRole::kFalseComputation};
        } else {
          return AppendCalleeList(CallRole::kBranchComputations, called);
        }
        break;
      default:
        for (CallRole role : {CallRole::kToApply, CallRole::kCalls}) {
          if (IsUsualRole(instruction.opcode(), role)) roles = {role};
        }
    }
    if (roles.size() != called.size() - next) {
      return AppendCalleeList(CallRole::kCalledComputations,
                              absl::MakeConstSpan(called).subspan(next));
    }
    for (CallRole role : roles) {
      absl::StrAppend(&out_, ", ", CallRoleName(role), "=");
      AppendComputationName(called[next++]);
    }
  }

  void AppendCalleeList(CallRole role, absl::Span<const ComputationId> called) {
    absl::StrAppend(&out_, ", ", CallRoleName(role), "={");
    for (size_t i = 0; i < called.size(); ++i) {
      if (i > 0) out_ += ", ";
      AppendComputationName(called[i]);
    }
    out_ += '}';
  }

  const Module& module_;
  const PrintOptions options_;
  std::vector<std::string> computation_names_;
  absl::flat_hash_map<const Shape*, std::string> shapes_;
  std::string out_;
};

}  // namespace

std::string PrintModule(const Module& module, const PrintOptions& options) {
  Printer printer(module, options);
  printer.AppendModule();
  return printer.TakeText();
}

}  // namespace hone::hlo
