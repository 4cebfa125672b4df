#include "loops/lowering/kernel/kernel_writer.h"

#include <utility>

#include "base/status_macros.h"
#include "loops/lowering/graph/opcode_traits.h"
#include "loops/lowering/graph/unsupported.h"
#include "loops/lowering/kernel/families.h"

namespace hone::loops {

using hlo::Opcode;

Access KernelWriter::AccessOf(const Nest& nest, BufferId buffer,
                              absl::Span<const int64_t> dimensions,
                              const Indices& indices) const {
  const hlo::DimensionVector& own = program_.buffer(buffer).dimensions;
  if (absl::MakeConstSpan(own) == dimensions) return {buffer, indices};
  const auto reindexed = nest.Reindex(dimensions, own, indices);
  if (reindexed.has_value()) return {buffer, *reindexed};
  return {buffer, {Flatten(dimensions, indices)}};
}

Access KernelWriter::Target(const Nest& nest, ValueId value,
                            const Indices& indices) {
  return AccessOf(nest, BufferToWrite(value), graph_.dimensions(value),
                  indices);
}

ExpressionPtr KernelWriter::Load(Access access) const {
  const hlo::ElementType type = program_.buffer(access.buffer).type;
  return Expression::Load(type, std::move(access));
}

absl::Status KernelWriter::WriteNest(
    absl::FunctionRef<absl::Status(Nest&)> fill) {
  Nest::Factors factors;
  while (true) {
    Nest nest(program_, names_, factors);
    HONE_RETURN_IF_ERROR(fill(nest));
    if (!nest.must_restart()) {
      nest.Finish();
      return absl::OkStatus();
    }
    nest.ApplySplit();
  }
}

absl::Status KernelWriter::Write(hlo::InstructionId id) {
  using WriteFn = absl::Status (*)(KernelWriter&, Nest&, hlo::InstructionId);
  const hlo::Instruction& instruction = graph_.computation()[id];
  const ValueId value = graph_.leaves(id)[0];
  WriteFn write = nullptr;
  switch (instruction.opcode()) {
    case Opcode::kConcatenate:
      write = &WriteConcatenate;
      break;
    case Opcode::kConvolution:
      write = &WriteConvolution;
      break;
    case Opcode::kDot:
      write = &WriteDot;
      break;
    case Opcode::kDynamicUpdateSlice:
      write = &WriteDynamicUpdateSlice;
      break;
    case Opcode::kReduce:
      write = &WriteReduce;
      break;
    case Opcode::kReduceWindow:
      write = &WriteReduceWindow;
      break;
    case Opcode::kRngBitGenerator:
      write = &WriteRngBitGenerator;
      break;
    case Opcode::kScatter:
      write = &WriteScatter;
      break;
    case Opcode::kSort:
      write = &WriteSort;
      break;
    case Opcode::kTopk:
      write = &WriteTopK;
      break;
    case Opcode::kTranspose:
      if (fusion_.IsTransposedDot(value)) write = &WriteDot;
      break;
    default:
      if (FormOf(instruction) == Form::kLoops) {
        write = &WriteInteriorPad;
      } else if (FormOf(instruction) != Form::kExpression) {
        return Unsupported(instruction);
      }
  }
  return WriteNest([&](Nest& nest) -> absl::Status {
    if (write != nullptr) return write(*this, nest, id);
    const Indices indices = nest.AddLoops(graph_.dimensions(value));
    HONE_ASSIGN_OR_RETURN(ExpressionPtr element, Compute(nest, value, indices));
    nest.Store(Target(nest, value, indices), std::move(element));
    nest.CloseTo(0);
    return absl::OkStatus();
  });
}

absl::Status KernelWriter::WriteCopy(ValueId value, BufferId buffer) {
  return WriteNest([&](Nest& nest) -> absl::Status {
    const Indices indices = nest.AddLoops(graph_.dimensions(value));
    HONE_ASSIGN_OR_RETURN(ExpressionPtr element, Read(nest, value, indices));
    nest.Store(AccessOf(nest, buffer, graph_.dimensions(value), indices),
               std::move(element));
    nest.CloseTo(0);
    return absl::OkStatus();
  });
}

}  // namespace hone::loops
