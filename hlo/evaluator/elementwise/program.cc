#include "hlo/evaluator/elementwise/program.h"

#include <algorithm>
#include <cstring>

#include "hlo/evaluator/types.h"

namespace hone::hlo::evaluator {
namespace {

void Fill(const std::byte* element, int64_t width, std::byte* out, int64_t n) {
  DispatchWidth(width, [&]<typename T>() {
    T value;
    std::memcpy(&value, element, sizeof(T));
    std::fill_n(reinterpret_cast<T*>(out), n, value);
  });
}

}  // namespace

ElementwiseProgram::Register ElementwiseProgram::AddRegister(ElementType type) {
  registers_.push_back({type});
  return static_cast<Register>(registers_.size()) - 1;
}

ElementwiseProgram::Register ElementwiseProgram::AddInput(ElementType type) {
  const Register r = AddRegister(type);
  registers_.back().input = static_cast<int>(inputs_.size());
  inputs_.push_back(r);
  return r;
}

ElementwiseProgram::Register ElementwiseProgram::AddConstant(
    const Literal& scalar) {
  const Register r = AddRegister(scalar.shape().element_type());
  registers_.back().constant = static_cast<int>(constants_.size());
  constants_.push_back(scalar);
  return r;
}

std::optional<ElementwiseProgram::Register> ElementwiseProgram::Converted(
    Register r, ElementType to) {
  const ElementType from = type(r);
  if (from == to) return r;
  const bool widens = ComputeType(from) == to;
  Register& widened = registers_[static_cast<size_t>(r)].widened;
  if (widens && widened >= 0) return widened;
  const ElementwiseFn fn = ConvertFn(from, to);
  if (fn == nullptr) return std::nullopt;
  const Register result = AddRegister(to);
  operations_.push_back({fn, {r, -1, -1}, result});
  if (widens) registers_[static_cast<size_t>(r)].widened = result;
  return result;
}

std::optional<ElementwiseProgram::Register> ElementwiseProgram::AddInstruction(
    const Instruction& instruction, absl::Span<const Register> operands) {
  if (operands.empty() || operands.size() > 3 ||
      !instruction.shape().IsArray()) {
    return std::nullopt;
  }
  const ElementType result_type = instruction.shape().element_type();
  const ElementType operand_type = type(operands.back());
  ElementType computed = ComputeType(result_type);
  if (instruction.opcode() == Opcode::kCopy) return operands[0];
  if (instruction.opcode() == Opcode::kConvert) {
    std::optional<Register> r = operands[0];
    for (ElementType step : ConversionPath(operand_type, result_type)) {
      if (r) r = Converted(*r, step);
    }
    return r;
  }
  const auto [fn, moves_data] =
      KernelOf(instruction.opcode(), instruction.attributes().direction,
               instruction.attributes().comparison_type == "TOTALORDER",
               operand_type, result_type);
  if (fn == nullptr) return std::nullopt;
  if (moves_data) computed = result_type;
  Operation operation{fn, {-1, -1, -1}, -1};
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::optional<Register> r =
        moves_data ? operands[i]
                   : Converted(operands[i], ComputeType(type(operands[i])));
    if (!r) return std::nullopt;
    operation.operands[i] = *r;
  }
  operation.result = AddRegister(computed);
  operations_.push_back(operation);
  return Converted(operation.result, result_type);
}

ElementwiseProgram::Register ElementwiseProgram::AddCopy(Register value) {
  const Register copy = AddRegister(type(value));
  operations_.push_back(
      {CopyFn(ByteWidth(type(value))), {value, -1, -1}, copy});
  return copy;
}

void ElementwiseProgram::AddOutput(Register value) {
  const RegisterInfo& info = registers_[static_cast<size_t>(value)];
  const bool needs_copy =
      info.input >= 0 || info.constant >= 0 ||
      std::find(outputs_.begin(), outputs_.end(), value) != outputs_.end();
  outputs_.push_back(needs_copy ? AddCopy(value) : value);
}

ElementwiseProgram::Workspace::Workspace(const ElementwiseProgram& program,
                                         int64_t max_elements)
    : block_(std::min(max_elements, kBlock)) {
  // Registers start on cache lines.
  const auto bytes_of = [&](const RegisterInfo& info) {
    return (block_ * ByteWidth(info.type) + 63) / 64 * 64;
  };
  int64_t total = 64;
  for (const RegisterInfo& info : program.registers_) total += bytes_of(info);
  storage_.resize(static_cast<size_t>(total));
  auto address = reinterpret_cast<uintptr_t>(storage_.data());
  std::byte* next = storage_.data() + (64 - address % 64) % 64;
  registers_.reserve(program.registers_.size());
  for (const RegisterInfo& info : program.registers_) {
    registers_.push_back(next);
    if (info.constant >= 0) {
      Fill(program.constants_[static_cast<size_t>(info.constant)].data(),
           ByteWidth(info.type), next, block_);
    }
    next += bytes_of(info);
  }
}

void ElementwiseProgram::Run(absl::Span<const Input> inputs,
                             absl::Span<std::byte* const> outputs,
                             int64_t begin, int64_t end,
                             Workspace& workspace) const {
  std::vector<std::byte*>& registers = workspace.registers_;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs[i].is_splat) continue;
    const size_t r = static_cast<size_t>(inputs_[i]);
    Fill(inputs[i].data, ByteWidth(registers_[r].type), registers[r],
         std::min(workspace.block_, end - begin));
  }
  for (int64_t at = begin; at < end; at += workspace.block_) {
    const int64_t n = std::min(workspace.block_, end - at);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs[i].is_splat) continue;
      const size_t r = static_cast<size_t>(inputs_[i]);
      // Operations only read their operands.
      registers[r] = const_cast<std::byte*>(inputs[i].data) +
                     at * ByteWidth(registers_[r].type);
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const size_t r = static_cast<size_t>(outputs_[i]);
      registers[r] = outputs[i] + at * ByteWidth(registers_[r].type);
    }
    for (const Operation& operation : operations_) {
      const void* operands[3];
      for (int k = 0; k < 3 && operation.operands[k] >= 0; ++k) {
        operands[k] = registers[static_cast<size_t>(operation.operands[k])];
      }
      operation.fn(operands, registers[static_cast<size_t>(operation.result)],
                   n);
    }
  }
}

}  // namespace hone::hlo::evaluator
