#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

#include "base/excerpt.h"
#include "base/status_macros.h"
#include "hlo/proto/attributes.h"
#include "hlo/proto/hlo.pb.h"
#include "hlo/proto/instruction_count.h"
#include "hlo/proto/io.h"
#include "hlo/proto/literal.h"
#include "hlo/proto/module_text.h"
#include "hlo/proto/shape.h"
#include "hlo/text/attributes.h"

namespace hone::hlo {
namespace {

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

// Names must be what text can say.
absl::Status CheckName(absl::string_view what, absl::string_view name) {
  if (IsName(name)) return absl::OkStatus();
  return Invalid(what, " \"", Excerpt(name),
                 "\", expected letters, digits, '.', '_' and '-'");
}

class ProtoReader {
 public:
  absl::StatusOr<Module> Read(xla::HloModuleProto& proto) {
    if (!proto.name().empty()) {
      HONE_RETURN_IF_ERROR(CheckName("module name", proto.name()));
    }
    module_.set_name(proto.name());
    HONE_RETURN_IF_ERROR(ReadComputations(proto));
    HONE_RETURN_IF_ERROR(ResolveCalls());
    HONE_RETURN_IF_ERROR(ReadEntry(proto));
    proto.clear_name();
    proto.clear_entry_computation_name();
    proto.clear_entry_computation_id();
    proto.clear_host_program_shape();
    proto.clear_schedule();
    proto.clear_id();
    TakeHeader(proto, module_);
    return std::move(module_);
  }

 private:
  // A call, by the callee's id, to resolve once every computation is read.
  struct PendingCalls {
    ComputationId caller;
    InstructionId instruction;
    std::vector<int64_t> callees;
  };
  // An operand (or control predecessor) that stands behind its user.
  struct ForwardReference {
    InstructionId user;
    size_t operand_index;
    int64_t id;
  };
  // The computation that is being read.
  struct Scope {
    Computation computation;
    absl::flat_hash_map<int64_t, InstructionId> ids;
    std::vector<ForwardReference> operands;
    std::vector<ForwardReference> control;
    int32_t parameters = 0;
  };

  absl::Status ReadComputations(xla::HloModuleProto& proto) {
    const auto& schedule = proto.schedule().sequences();
    module_.set_is_scheduled(!schedule.empty());
    xla::HloComputationProto computation;
    for (std::string& bytes : *proto.mutable_computations()) {
      if (!computation.ParseFromString(bytes)) {
        return Invalid("malformed computation ", computations_.size(),
                       ", expected an HloComputationProto");
      }
      bytes = std::string();  // frees it
      const auto sequence = schedule.find(computation.id());
      if (sequence != schedule.end()) {
        OrderBySchedule(sequence->second, computation);
      }
      if (absl::Status status = ReadComputation(computation); !status.ok()) {
        return Invalid("computation ",
                       IsName(computation.name()) ? computation.name()
                                                  : Excerpt(computation.name()),
                       status.message());
      }
    }
    proto.clear_computations();
    return absl::OkStatus();
  }

  // Sorts the instructions as the schedule runs them; slot order is the
  // schedule.
  static void OrderBySchedule(
      const xla::HloScheduleProto::InstructionSequence& sequence,
      xla::HloComputationProto& proto) {
    absl::flat_hash_map<int64_t, int> position;
    for (int i = 0; i < sequence.instruction_ids_size(); ++i) {
      position.emplace(sequence.instruction_ids(i), i);
    }
    std::vector<std::string> ordered(position.size());
    std::vector<std::string> unscheduled;
    xla::HloInstructionProto instruction;
    for (std::string& bytes : *proto.mutable_instructions()) {
      const bool parsed = instruction.ParseFromString(bytes);
      const auto it = position.find(instruction.id());
      if (!parsed || it == position.end()) {
        unscheduled.push_back(std::move(bytes));
        continue;
      }
      const auto at = static_cast<size_t>(it->second);
      if (at < ordered.size()) ordered[at] = std::move(bytes);
    }
    proto.clear_instructions();
    for (auto* list : {&ordered, &unscheduled}) {
      for (std::string& bytes : *list) {
        if (!bytes.empty()) proto.add_instructions(std::move(bytes));
      }
    }
  }

  absl::Status ReadComputation(xla::HloComputationProto& proto) {
    HONE_RETURN_IF_ERROR(CheckName(": name", proto.name()));
    const auto count = static_cast<int64_t>(proto.instructions_size());
    Scope scope;
    scope.computation.set_name(proto.name());
    const std::string& thread = proto.execution_thread();
    if (!thread.empty() && thread != "main") {
      scope.computation.set_suffix(
          absl::StrCat("execution_thread=\"", absl::CEscape(thread), "\""));
    }
    for (const std::string& bytes : proto.instructions()) {
      if (!instruction_.ParseFromString(bytes)) {
        return Invalid(": malformed instruction ",
                       scope.computation.slot_count(),
                       ", expected an HloInstructionProto");
      }
      if (absl::Status status = ReadInstruction(count, scope); !status.ok()) {
        return Invalid(", instruction ", name_, ": ", status.message());
      }
    }
    HONE_RETURN_IF_ERROR(Finish(proto, scope));
    if (!computations_
             .emplace(proto.id(),
                      module_.AddComputation(std::move(scope.computation)))
             .second) {
      return Invalid(": computation id ", proto.id(),
                     " again, expected unique ids");
    }
    return absl::OkStatus();
  }

  absl::Status Finish(const xla::HloComputationProto& proto, Scope& scope) {
    for (const ForwardReference& reference : scope.operands) {
      const auto it = scope.ids.find(reference.id);
      if (it == scope.ids.end()) {
        return Dangling(scope, reference, "operand id ");
      }
      scope.computation.ResolveForwardReference(
          reference.user, reference.operand_index, it->second);
    }
    scope.computation.FinishForwardReferences();
    for (const ForwardReference& reference : scope.control) {
      const auto it = scope.ids.find(reference.id);
      if (it == scope.ids.end()) {
        return Dangling(scope, reference, "control predecessor id ");
      }
      scope.computation.AddControlPredecessor(reference.user, it->second);
    }
    const auto root = scope.ids.find(proto.root_id());
    if (root == scope.ids.end()) {
      return Invalid(": root id ", proto.root_id(),
                     ", expected the id of an instruction");
    }
    scope.computation.set_root(root->second);
    const auto& parameters = scope.computation.parameters();
    for (size_t n = 0; n < parameters.size(); ++n) {
      if (parameters[n] == kNoInstruction) {
        return Invalid(": no parameter ", n, ", expected 0 to ",
                       parameters.size() - 1);
      }
    }
    return absl::OkStatus();
  }

  static absl::Status Dangling(const Scope& scope,
                               const ForwardReference& reference,
                               absl::string_view what) {
    return Invalid(", instruction ", scope.computation[reference.user].name(),
                   ": ", what, reference.id,
                   ", expected an instruction of the computation");
  }

  // Reads instruction_. `count` is the computation's size.
  absl::Status ReadInstruction(int64_t count, Scope& scope) {
    name_ = Excerpt(instruction_.name());
    HONE_RETURN_IF_ERROR(CheckName("name", instruction_.name()));
    name_ = instruction_.name();
    HONE_RETURN_IF_ERROR(CheckName("opcode", instruction_.opcode()));
    const Opcode opcode =
        ParseOpcode(instruction_.opcode()).value_or(Opcode::kUnknown);
    absl::StatusOr<ShapePtr> shape = shapes_.Read(instruction_.shape());
    HONE_RETURN_IF_ERROR(shape.status());
    const InstructionId id = scope.computation.slot_count();
    InstructionIds operands;
    for (int64_t operand : instruction_.operand_ids()) {
      const auto it = scope.ids.find(operand);
      if (it == scope.ids.end()) {
        scope.operands.push_back({id, operands.size(), operand});
      }
      operands.push_back(it == scope.ids.end() ? kNoInstruction : it->second);
    }
    for (int64_t predecessor : instruction_.control_predecessor_ids()) {
      scope.control.push_back({id, 0, predecessor});
    }
    Instruction result(opcode, *std::move(shape), operands);
    if (opcode == Opcode::kUnknown) {
      result.set_unknown_opcode(
          std::make_shared<const std::string>(instruction_.opcode()));
    }
    result.set_name(name_);
    if (!scope.ids.emplace(instruction_.id(), id).second) {
      return Invalid("id ", instruction_.id(), " again, expected unique ids");
    }
    HONE_RETURN_IF_ERROR(ReadIndex(count, scope, result));
    HONE_RETURN_IF_ERROR(ReadLiteral(result));
    ReadMetadata(result);
    ReadCalls(id, result);
    instruction_.clear_name();
    instruction_.clear_opcode();
    instruction_.clear_shape();
    instruction_.clear_id();
    instruction_.clear_operand_ids();
    instruction_.clear_control_predecessor_ids();
    HONE_RETURN_IF_ERROR(ReadAttributes(scope, result));
    scope.computation.AddWithForwardReferences(std::move(result));
    return absl::OkStatus();
  }

  absl::Status ReadIndex(int64_t count, Scope& scope, Instruction& result) {
    const bool is_parameter = result.opcode() == Opcode::kParameter;
    if (!is_parameter && result.opcode() != Opcode::kGetTupleElement) {
      return absl::OkStatus();
    }
    const int64_t index = is_parameter ? instruction_.parameter_number()
                                       : instruction_.tuple_index();
    // Parameter numbers are dense, so that one bounds the number of parameters.
    const int64_t end = is_parameter ? count : int64_t{INT32_MAX};
    if (index < 0 || index >= end) {
      return Invalid(is_parameter ? "parameter number " : "tuple index ", index,
                     ", expected 0 to ", end - 1);
    }
    if (is_parameter) {
      const auto& parameters = scope.computation.parameters();
      if (static_cast<size_t>(index) < parameters.size() &&
          parameters[static_cast<size_t>(index)] != kNoInstruction) {
        return Invalid("parameter number ", index, " again, expected it once");
      }
    }
    result.set_index(static_cast<int32_t>(index));
    instruction_.clear_parameter_number();
    instruction_.clear_tuple_index();
    return absl::OkStatus();
  }

  absl::Status ReadLiteral(Instruction& result) {
    if (!result.IsConstant()) return absl::OkStatus();
    if (!instruction_.has_literal()) {
      return Invalid("constant without a literal, expected one");
    }
    HONE_ASSIGN_OR_RETURN(Literal literal,
                          ReadLiteralProto(*instruction_.mutable_literal()));
    if (!Shape::Equal(literal.shape(), result.shape())) {
      return Invalid("literal is ", literal.shape().ToString(), ", expected ",
                     result.shape().ToString());
    }
    result.set_literal(std::make_shared<const Literal>(std::move(literal)));
    instruction_.clear_literal();
    return absl::OkStatus();
  }

  void ReadMetadata(Instruction& result) {
    if (instruction_.metadata().empty()) return;
    std::shared_ptr<const std::string>& text =
        metadata_[instruction_.metadata()];
    if (text == nullptr) {
      xla::OpMetadata metadata;
      metadata.ParseFromString(instruction_.metadata());
      text = std::make_shared<const std::string>(MetadataText(metadata));
    }
    if (!text->empty()) result.set_metadata(text);
    instruction_.clear_metadata();
  }

  void ReadCalls(InstructionId id, const Instruction& result) {
    if (instruction_.called_computation_ids().empty()) return;
    PendingCalls calls;
    calls.caller = module_.computation_slots();
    calls.instruction = id;
    calls.callees.assign(instruction_.called_computation_ids().begin(),
                         instruction_.called_computation_ids().end());
    // XLA puts the body of a while before its condition.
    if (result.opcode() == Opcode::kWhile && calls.callees.size() == 2) {
      std::swap(calls.callees[0], calls.callees[1]);
    }
    calls_.push_back(std::move(calls));
  }

  absl::Status ReadAttributes(const Scope& scope, Instruction& result) {
    auto attributes = std::make_shared<Attributes>();
    ElementType operand_type = ElementType::kInvalid;
    if (result.operand_count() > 0 && result.operand(0) != kNoInstruction) {
      operand_type =
          scope.computation[result.operand(0)].shape().element_type();
    }
    HONE_RETURN_IF_ERROR(TakeAttributes(result.opcode(), operand_type,
                                        instruction_, *attributes));
    const int callees = instruction_.called_computation_ids_size();
    instruction_.clear_called_computation_ids();
    HONE_RETURN_IF_ERROR(CheckCalleeCount(result.opcode(), callees));
    TakeTextAttributes(result.opcode(), callees, instruction_,
                       attributes->others);
    HONE_RETURN_IF_ERROR(AddRequired(result.opcode(), attributes->others));
    if (callees > 0) AddCallRole(result.opcode(), attributes->others, callees);
    if (*attributes != *NoAttributes()) {
      result.set_attributes(std::move(attributes));
    }
    return absl::OkStatus();
  }

  // Checks the number of callees of an opcode that determines it.
  static absl::Status CheckCalleeCount(Opcode opcode, int callees) {
    int expected = callees;
    if (opcode == Opcode::kWhile || opcode == Opcode::kSelectAndScatter) {
      expected = 2;
    } else if (IsUsualRole(opcode, CallRole::kToApply) ||
               IsUsualRole(opcode, CallRole::kCalls)) {
      expected = 1;
    }
    if (callees == 0 || callees == expected) return absl::OkStatus();
    return Invalid(callees, " called computations, expected ", expected);
  }

  // Adds the attributes that text must have, though empty fields stand for
  // them.
  static absl::Status AddRequired(Opcode opcode, TextAttributes& others) {
    static constexpr std::pair<absl::string_view, absl::string_view>
        kDefaults[] = {
            {"delta", "0"}, {"fft_type", "FFT"}, {"source_target_pairs", "{}"}};
    for (absl::string_view required : RequiredAttributes(opcode)) {
      const bool is_given = absl::c_any_of(
          others,
          [required](const auto& other) { return other.first == required; });
      if (is_given) continue;
      if (required == "distribution") {
        return Invalid(
            "random numbers of no distribution, expected "
            "rng_uniform or rng_normal");
      }
      for (const auto& [name, value] : kDefaults) {
        if (name == required) others.emplace_back(name, value);
      }
    }
    return absl::OkStatus();
  }

  // Adds an entry with a `%` in place of each callee, for opcodes that do not
  // determine how text names their callees.
  static void AddCallRole(Opcode opcode, TextAttributes& others, int callees) {
    for (CallRole role : {CallRole::kToApply, CallRole::kBody,
                          CallRole::kSelect, CallRole::kBranchComputations,
                          CallRole::kCalls, CallRole::kCalledComputations}) {
      if (IsUsualRole(opcode, role)) return;
    }
    for (const auto& [name, value] : others) {
      if (CallRoleOf(name) != CallRole::kNone) return;
    }
    std::string value = "{%";
    for (int i = 1; i < callees; ++i) value += ", %";
    others.emplace_back(CallRoleName(CallRole::kCalls), value + "}");
  }

  absl::Status ResolveCalls() {
    for (const PendingCalls& calls : calls_) {
      Computation& caller = module_.mutable_computation(calls.caller);
      ComputationIds called;
      for (int64_t id : calls.callees) {
        const auto it = computations_.find(id);
        if (it == computations_.end()) {
          return Invalid("computation ", caller.name(), ", instruction ",
                         caller[calls.instruction].name(),
                         ": called computation id ", id,
                         ", expected a computation of the module");
        }
        called.push_back(it->second);
      }
      caller.mutable_instruction(calls.instruction)
          .set_called(std::move(called));
    }
    return absl::OkStatus();
  }

  absl::Status ReadEntry(const xla::HloModuleProto& proto) {
    const auto it = computations_.find(proto.entry_computation_id());
    if (it == computations_.end()) {
      return Invalid("entry computation id ", proto.entry_computation_id(),
                     ", expected a computation of the module");
    }
    module_.set_entry(it->second);
    const Computation& entry = module_.entry_computation();
    std::vector<ShapePtr> parameters;
    for (InstructionId id : entry.parameters()) {
      parameters.push_back(entry[id].shape_ptr());
    }
    ShapePtr result = entry[entry.root()].shape_ptr();
    if (proto.has_host_program_shape()) {
      const xla::ProgramShapeProto& program = proto.host_program_shape();
      parameters.clear();
      for (const xla::ShapeProto& shape : program.parameters()) {
        HONE_ASSIGN_OR_RETURN(ShapePtr parameter, ReadShapeProto(shape));
        parameters.push_back(std::move(parameter));
      }
      HONE_ASSIGN_OR_RETURN(result, ReadShapeProto(program.result()));
    }
    module_.set_entry_shapes(std::move(parameters), std::move(result));
    return absl::OkStatus();
  }

  Module module_;
  absl::flat_hash_map<int64_t, ComputationId> computations_;
  std::vector<PendingCalls> calls_;
  ProtoShapeReader shapes_;
  absl::flat_hash_map<std::string, std::shared_ptr<const std::string>>
      metadata_;
  // The instruction that is being read; reused, so that its memory is.
  xla::HloInstructionProto instruction_;
  std::string name_;
};

// `bytes` as a module, or as an HloProto that holds one.
bool ParseModule(absl::string_view bytes, xla::HloModuleProto& module) {
  const int size = static_cast<int>(bytes.size());
  xla::HloProto outer;
  // A module's name has the number of an HloProto's module.
  if (outer.ParseFromArray(bytes.data(), size) &&
      module.ParseFromString(outer.hlo_module()) &&
      module.computations_size() > 0) {
    return true;
  }
  return module.ParseFromArray(bytes.data(), size);
}

}  // namespace

absl::StatusOr<Module> ParseHloProto(absl::string_view bytes,
                                     absl::string_view file_name,
                                     const ReadLimits& limits) {
  constexpr absl::string_view kExpected =
      ": malformed, expected an HloModuleProto of less than 2 GiB";
  if (bytes.size() > static_cast<size_t>(INT32_MAX)) {
    return Invalid(file_name, kExpected);
  }
  if (CountProtoInstructions(bytes) > limits.max_instructions) {
    return Invalid(file_name, ": too many instructions, expected at most ",
                   limits.max_instructions);
  }
  xla::HloModuleProto proto;
  if (!ParseModule(bytes, proto)) return Invalid(file_name, kExpected);
  absl::StatusOr<Module> module = ProtoReader().Read(proto);
  if (!module.ok()) return Invalid(file_name, ": ", module.status().message());
  return module;
}

}  // namespace hone::hlo
