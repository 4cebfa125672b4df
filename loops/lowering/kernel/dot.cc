#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "loops/lowering/kernel/families.h"
#include "loops/lowering/kernel/scalar.h"

namespace hone::loops {
namespace {

using hlo::DimensionVector;
using hlo::Opcode;

bool Contains(const DimensionVector& dimensions, size_t d) {
  return std::find(dimensions.begin(), dimensions.end(),
                   static_cast<int64_t>(d)) != dimensions.end();
}

}  // namespace

// Opens the loops of the stored value, whose dimensions are batch, left and
// right dimensions of the dot in some order; the contracted dimensions come
// innermost.
absl::Status WriteDot(KernelWriter& writer, Nest& nest, hlo::InstructionId id) {
  const ValueGraph& graph = writer.graph();
  const ValueId value = graph.leaves(id)[0];
  const hlo::Instruction& instruction = graph.computation()[id];
  const bool is_transposed = instruction.opcode() == Opcode::kTranspose;
  const ValueId product = is_transposed ? graph.operands(id)[0] : value;
  const hlo::DotDimensions& dot = *graph.instruction(product).attributes().dot;
  const ValueId lhs = graph.operand(product, 0);
  const ValueId rhs = graph.operand(product, 1);
  const hlo::ElementType type = graph.type(value);

  const Indices stored_at = nest.AddLoops(graph.dimensions(value));
  Indices at = stored_at;
  for (size_t i = 0; is_transposed && i < at.size(); ++i) {
    at[static_cast<size_t>(instruction.dimensions()[i])] = stored_at[i];
  }
  Indices lhs_at(graph.dimensions(lhs).size());
  Indices rhs_at(graph.dimensions(rhs).size());
  size_t next = 0;
  for (size_t i = 0; i < dot.lhs_batch.size(); ++i, ++next) {
    lhs_at[static_cast<size_t>(dot.lhs_batch[i])] = at[next];
    rhs_at[static_cast<size_t>(dot.rhs_batch[i])] = at[next];
  }
  for (size_t d = 0; d < lhs_at.size(); ++d) {
    if (Contains(dot.lhs_batch, d) || Contains(dot.lhs_contracting, d)) {
      continue;
    }
    lhs_at[d] = at[next++];
  }
  for (size_t d = 0; d < rhs_at.size(); ++d) {
    if (Contains(dot.rhs_batch, d) || Contains(dot.rhs_contracting, d)) {
      continue;
    }
    rhs_at[d] = at[next++];
  }
  const Access sum = writer.Target(nest, value, stored_at);
  nest.Store(sum, IdentityOf(Opcode::kAdd, type));
  for (size_t i = 0; i < dot.lhs_contracting.size(); ++i) {
    const size_t d = static_cast<size_t>(dot.lhs_contracting[i]);
    const Affine k = nest.AddLoop(graph.dimensions(lhs)[d]);
    lhs_at[d] = k;
    rhs_at[static_cast<size_t>(dot.rhs_contracting[i])] = k;
  }
  HONE_ASSIGN_OR_RETURN(ExpressionPtr a, writer.Read(nest, lhs, lhs_at));
  HONE_ASSIGN_OR_RETURN(ExpressionPtr b, writer.Read(nest, rhs, rhs_at));
  nest.Store(sum,
             Expression::Apply(Opcode::kMultiply, type,
                               {Converted(type, std::move(a)),
                                Converted(type, std::move(b))}),
             type == hlo::ElementType::kPred ? Opcode::kOr : Opcode::kAdd);
  nest.CloseTo(0);
  return absl::OkStatus();
}

}  // namespace hone::loops
