#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

#include "base/excerpt.h"
#include "base/status_macros.h"
#include "hlo/proto/attributes.h"
#include "hlo/proto/hlo.pb.h"
#include "hlo/proto/io.h"
#include "hlo/proto/literal.h"
#include "hlo/proto/module_text.h"
#include "hlo/proto/serialize.h"
#include "hlo/proto/shape.h"
#include "hlo/text/lexer.h"

namespace hone::hlo {
namespace {

size_t Index(int32_t id) { return static_cast<size_t>(id); }

// Operands and control predecessors before users: the order of the text where
// it has that property, so that XLA, whose own order depends on it, sees the
// same in both forms.
std::vector<InstructionId> InstructionOrder(const Computation& c) {
  bool sorted = true;
  for (const Instruction& i : c.instructions()) {
    for (InstructionId operand : i.operands()) {
      sorted = sorted && operand < i.id();
    }
    for (InstructionId before : c.control_predecessors(i.id())) {
      sorted = sorted && before < i.id();
    }
    if (!sorted) break;
  }
  return sorted ? c.LiveInstructions() : c.PostOrder();
}

// Callees before callers; likewise.
std::vector<ComputationId> ComputationOrder(const Module& module) {
  std::vector<ComputationId> order;
  for (const Computation& c : module.computations()) {
    order.push_back(c.id());
    for (const Instruction& i : c.instructions()) {
      for (ComputationId callee : i.called()) {
        if (callee >= c.id()) return module.ComputationPostOrder();
      }
    }
  }
  return order;
}

// XLA keeps the low 32 bits of an instruction's id as its id within the
// computation, so ids that are small and unique in the module suit every
// version. 0 is left out: it is the default of the fields that refer to ids.
class ProtoWriter {
 public:
  explicit ProtoWriter(const Module& module) : module_(module) {}

  absl::StatusOr<std::string> Write() {
    HONE_RETURN_IF_ERROR(CheckFrontendNames(module_.header()));
    WriteHeader(module_, proto_);
    proto_.set_name(module_.name());
    CollectNames();
    ids_.resize(Index(module_.computation_slots()));
    computation_ids_.resize(Index(module_.computation_slots()));
    int64_t next_computation = 1;
    const std::vector<ComputationId> order = ComputationOrder(module_);
    CollectFused(order);
    for (ComputationId id : order) {
      computation_ids_[Index(id)] = next_computation++;
      HONE_RETURN_IF_ERROR(WriteComputation(id));
    }
    const Computation& entry = module_.entry_computation();
    proto_.set_entry_computation_name(entry.name());
    proto_.set_entry_computation_id(computation_ids_[Index(module_.entry())]);
    xla::ProgramShapeProto& program = *proto_.mutable_host_program_shape();
    for (size_t n = 0; n < entry.parameters().size(); ++n) {
      HONE_RETURN_IF_ERROR(WriteShapeProto(*module_.entry_parameter_shapes()[n],
                                           *program.add_parameters()));
      program.add_parameter_names(entry[entry.parameters()[n]].name());
    }
    HONE_RETURN_IF_ERROR(WriteShapeProto(*module_.entry_result_shape(),
                                         *program.mutable_result()));
    return SerializeProto(proto_);
  }

 private:
  // Names that instructions have; those without one get a name beside them.
  void CollectNames() {
    for (const Computation& c : module_.computations()) {
      for (const Instruction& i : c.instructions()) names_.insert(i.name());
    }
  }

  void CollectFused(const std::vector<ComputationId>& order) {
    for (ComputationId id : order) {
      for (const Instruction& i : module_.computation(id).instructions()) {
        if (i.opcode() != Opcode::kFusion) continue;
        fused_.insert(i.called().begin(), i.called().end());
      }
    }
  }

  // Unique in the module, which XLA demands; Hone only of a computation.
  std::string UniqueName(const Instruction& instruction) {
    if (!instruction.name().empty() &&
        written_names_.insert(instruction.name()).second) {
      return instruction.name();
    }
    std::string base = instruction.name();
    if (base.empty()) {
      base = instruction.unknown_opcode() != nullptr
                 ? *instruction.unknown_opcode()
                 : std::string(OpcodeName(instruction.opcode()));
    }
    while (true) {
      std::string name = absl::StrCat(base, ".", ++next_suffix_[base]);
      if (!names_.contains(name) && written_names_.insert(name).second) {
        return name;
      }
    }
  }

  absl::Status WriteComputation(ComputationId id) {
    const Computation& c = module_.computation(id);
    xla::HloComputationProto proto;
    proto.set_name(c.name());
    proto.set_id(computation_ids_[Index(id)]);
    proto.set_is_fusion_computation(fused_.contains(id));
    proto.set_execution_thread("main");
    if (!c.suffix().empty()) {
      HONE_RETURN_IF_ERROR(WriteSuffix(c, proto));
    }
    std::vector<int64_t>& ids = ids_[Index(id)];
    ids.resize(Index(c.slot_count()));
    const std::vector<InstructionId> order = InstructionOrder(c);
    for (InstructionId i : order) ids[Index(i)] = next_instruction_++;
    for (InstructionId i : order) {
      if (absl::Status status = WriteInstruction(c, i, ids, proto);
          !status.ok()) {
        return absl::Status(
            status.code(),
            absl::StrCat("computation ", c.name(), ", instruction ",
                         c[i].name(), ": ", status.message()));
      }
    }
    proto.set_root_id(ids[Index(c.root())]);
    xla::ProgramShapeProto& program = *proto.mutable_program_shape();
    for (InstructionId parameter : c.parameters()) {
      HONE_RETURN_IF_ERROR(
          WriteShapeProto(c[parameter].shape(), *program.add_parameters()));
      program.add_parameter_names(c[parameter].name());
    }
    HONE_RETURN_IF_ERROR(
        WriteShapeProto(c[c.root()].shape(), *program.mutable_result()));
    // The schedule leaves out what runs within a fusion.
    if (module_.is_scheduled() && !proto.is_fusion_computation()) {
      auto& sequence =
          (*proto_.mutable_schedule()->mutable_sequences())[proto.id()];
      for (InstructionId i : c.LiveInstructions()) {
        sequence.add_instruction_ids(ids[Index(i)]);
      }
    }
    proto_.add_computations(SerializeProto(proto));
    return absl::OkStatus();
  }

  // `execution_thread="x"`
  static absl::Status WriteSuffix(const Computation& c,
                                  xla::HloComputationProto& proto) {
    TextError error;
    TextLexer lexer(c.suffix(), &error);
    if (lexer.Take("execution_thread=") &&
        lexer.String(*proto.mutable_execution_thread()) && lexer.AtEnd()) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("computation ", c.name(), ": attributes ",
                     Excerpt(c.suffix()), ", expected execution_thread alone"));
  }

  absl::Status WriteInstruction(const Computation& c, InstructionId id,
                                const std::vector<int64_t>& ids,
                                xla::HloComputationProto& computation) {
    const Instruction& instruction = c[id];
    const Opcode opcode = instruction.opcode();
    instruction_.Clear();
    instruction_.set_name(UniqueName(instruction));
    instruction_.set_opcode(opcode == Opcode::kUnknown
                                ? *instruction.unknown_opcode()
                                : std::string(OpcodeName(opcode)));
    instruction_.set_id(ids[Index(id)]);
    HONE_ASSIGN_OR_RETURN(const std::string* shape,
                          shapes_.Write(instruction.shape_ptr()));
    instruction_.set_shape(*shape);
    for (InstructionId operand : instruction.operands()) {
      instruction_.add_operand_ids(ids[Index(operand)]);
    }
    for (InstructionId predecessor : c.control_predecessors(id)) {
      instruction_.add_control_predecessor_ids(ids[Index(predecessor)]);
    }
    for (ComputationId callee : instruction.called()) {
      instruction_.add_called_computation_ids(computation_ids_[Index(callee)]);
    }
    // XLA puts the body of a while before its condition.
    if (opcode == Opcode::kWhile && instruction.called().size() == 2) {
      instruction_.mutable_called_computation_ids()->SwapElements(0, 1);
    }
    if (opcode == Opcode::kParameter) {
      instruction_.set_parameter_number(instruction.index());
    } else if (opcode == Opcode::kGetTupleElement) {
      instruction_.set_tuple_index(instruction.index());
    }
    if (instruction.literal() != nullptr) {
      HONE_RETURN_IF_ERROR(WriteLiteralProto(*instruction.literal(),
                                             *instruction_.mutable_literal()));
    }
    if (instruction.metadata() != nullptr) {
      xla::OpMetadata metadata;
      ReadMetadataText(*instruction.metadata(), metadata);
      instruction_.set_metadata(metadata.SerializeAsString());
    }
    const ElementType operand_type =
        instruction.operand_count() == 0
            ? ElementType::kInvalid
            : c[instruction.operand(0)].shape().element_type();
    WriteAttributes(opcode, operand_type, instruction.attributes(),
                    instruction_);
    HONE_RETURN_IF_ERROR(CheckFrontendNames(instruction.attributes().others));
    WriteTextAttributes(opcode, instruction.operand_count(),
                        instruction.attributes().others, instruction_);
    computation.add_instructions(SerializeProto(instruction_));
    return absl::OkStatus();
  }

  const Module& module_;
  xla::HloModuleProto proto_;
  xla::HloInstructionProto instruction_;  // reused
  ProtoShapeWriter shapes_;
  absl::flat_hash_set<absl::string_view> names_;
  absl::flat_hash_set<std::string> written_names_;
  absl::flat_hash_map<std::string, int64_t> next_suffix_;
  absl::flat_hash_set<ComputationId> fused_;
  // Per computation: the ids of its instructions by slot.
  std::vector<std::vector<int64_t>> ids_;
  std::vector<int64_t> computation_ids_;
  int64_t next_instruction_ = 1;
};

}  // namespace

absl::StatusOr<std::string> SerializeHloProto(const Module& module) {
  return ProtoWriter(module).Write();
}

}  // namespace hone::hlo
