#include "hlo/evaluator/region.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/container/flat_hash_map.h"

#include "base/status_macros.h"

namespace hone::hlo::evaluator {
namespace {

using Register = ElementwiseProgram::Register;
// The registers of a value: several for a tuple.
using Value = std::vector<Register>;

// Returns true if the instruction only passes a scalar on.
bool IsScalarMove(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kBitcast:
    case Opcode::kBroadcast:
    case Opcode::kReshape:
      return instruction.shape().IsScalar();
    case Opcode::kOptBarrier:
      return true;
    default:
      return false;
  }
}

// Appends the computation to `program`, calls inlined; nullopt if it is not
// scalar arithmetic.
std::optional<Value> Compile(const Module& module, ComputationId id,
                             const std::vector<Value>& parameters,
                             ElementwiseProgram& program) {
  const Computation& computation = module.computation(id);
  absl::flat_hash_map<InstructionId, Value> values;
  for (InstructionId i : computation.PostOrder()) {
    const Instruction& instruction = computation[i];
    std::vector<Value> operands;
    for (InstructionId operand : instruction.operands()) {
      operands.push_back(values[operand]);
    }
    std::optional<Value> value;
    if (instruction.opcode() == Opcode::kParameter) {
      value = parameters[static_cast<size_t>(instruction.index())];
    } else if (instruction.opcode() == Opcode::kConstant) {
      const LiteralPtr& literal = instruction.literal();
      if (!instruction.shape().IsScalar() || literal->is_elided()) {
        return std::nullopt;
      }
      value = Value{program.AddConstant(*literal)};
    } else if (instruction.opcode() == Opcode::kTuple) {
      value.emplace();
      for (const Value& operand : operands) {
        if (operand.size() != 1) return std::nullopt;
        value->push_back(operand[0]);
      }
    } else if (instruction.opcode() == Opcode::kGetTupleElement) {
      value = Value{operands[0][static_cast<size_t>(instruction.index())]};
    } else if (instruction.opcode() == Opcode::kCall ||
               instruction.opcode() == Opcode::kFusion) {
      value = Compile(module, instruction.called()[0], operands, program);
    } else if (IsScalarMove(instruction)) {
      value = operands[0];
    } else if (IsElementwise(instruction.opcode()) &&
               instruction.shape().IsScalar()) {
      std::vector<Register> registers;
      for (const Value& operand : operands) {
        if (operand.size() != 1) return std::nullopt;
        registers.push_back(operand[0]);
      }
      if (const auto result = program.AddInstruction(instruction, registers)) {
        value = Value{*result};
      }
    }
    if (!value) return std::nullopt;
    values[i] = *std::move(value);
  }
  return values[computation.root()];
}

bool IsParameter(const Computation& computation, InstructionId id,
                 int32_t number) {
  return computation[id].opcode() == Opcode::kParameter &&
         computation[id].index() == number;
}

}  // namespace

std::optional<Opcode> SimpleReducer(const Module& module, ComputationId id) {
  const Computation& computation = module.computation(id);
  const Instruction& root = computation[computation.root()];
  switch (root.opcode()) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
      break;
    default:
      return std::nullopt;
  }
  if (computation.parameters().size() != 2 || !root.shape().IsScalar()) {
    return std::nullopt;
  }
  const InstructionId a = root.operand(0);
  const InstructionId b = root.operand(1);
  const bool straight =
      IsParameter(computation, a, 0) && IsParameter(computation, b, 1);
  const bool swapped =
      IsParameter(computation, a, 1) && IsParameter(computation, b, 0);
  if (!straight && !swapped) return std::nullopt;
  return root.opcode();
}

std::optional<SimpleComparison> SimpleComparator(const Module& module,
                                                 ComputationId id) {
  const Computation& computation = module.computation(id);
  const Instruction& root = computation[computation.root()];
  if (root.opcode() != Opcode::kCompare ||
      !IsParameter(computation, root.operand(0), 0) ||
      !IsParameter(computation, root.operand(1), 1)) {
    return std::nullopt;
  }
  return SimpleComparison{root.attributes().direction,
                          root.attributes().comparison_type == "TOTALORDER"};
}

Region::Region(Context& context, ComputationId id)
    : context_(context), id_(id) {
  const Computation& computation = context.module().computation(id);
  ElementwiseProgram program;
  std::vector<Value> parameters;
  for (InstructionId parameter : computation.parameters()) {
    const Shape& shape = computation[parameter].shape();
    if (!shape.IsScalar()) return;
    parameters.push_back({program.AddInput(shape.element_type())});
  }
  std::optional<Value> root =
      Compile(context.module(), id, parameters, program);
  if (!root) return;
  if (root->size() > 1) {
    // Results may overwrite parameters: nothing may be read after the first is
    // written.
    for (Register& r : *root) r = program.AddCopy(r);
    for (Register& r : *root) r = program.AddCopy(r);
  }
  for (Register r : *root) program.AddOutput(r);
  program_ = std::move(program);
  block_workspace_.emplace(*program_);
  scalar_workspace_.emplace(*program_, 1);
}

absl::Status Region::Apply(
    absl::Span<const ElementwiseProgram::Input> parameters,
    absl::Span<std::byte* const> results, int64_t n) {
  if (!program_) return ApplyGeneral(parameters, results, n);
  program_->Run(parameters, results, 0, n,
                n == 1 ? *scalar_workspace_ : *block_workspace_);
  return absl::OkStatus();
}

absl::Status Region::ApplyGeneral(
    absl::Span<const ElementwiseProgram::Input> parameters,
    absl::Span<std::byte* const> results, int64_t n) {
  const Computation& computation = context_.module().computation(id_);
  collected_.assign(results.size(), {});
  for (int64_t i = 0; i < n; ++i) {
    std::vector<Literal> arguments;
    for (size_t p = 0; p < parameters.size(); ++p) {
      HONE_ASSIGN_OR_RETURN(
          Literal argument,
          context_.Allocate(
              computation[computation.parameters()[p]].shape_ptr()));
      const int64_t width = argument.byte_size();
      std::memcpy(argument.MutableData(),
                  parameters[p].data + (parameters[p].is_splat ? 0 : i * width),
                  static_cast<size_t>(width));
      arguments.push_back(std::move(argument));
    }
    HONE_ASSIGN_OR_RETURN(const Literal result,
                          context_.Run(id_, std::move(arguments)));
    for (size_t r = 0; r < results.size(); ++r) {
      const Literal& part =
          result.shape().IsTuple() ? result.elements()[r] : result;
      collected_[r].insert(collected_[r].end(), part.data(),
                           part.data() + part.byte_size());
    }
  }
  for (size_t r = 0; r < results.size(); ++r) {
    std::copy(collected_[r].begin(), collected_[r].end(), results[r]);
  }
  return absl::OkStatus();
}

}  // namespace hone::hlo::evaluator
