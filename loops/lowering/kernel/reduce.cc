#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "hlo/rewrite/regions/reductions.h"
#include "loops/lowering/kernel/arg_reduce.h"
#include "loops/lowering/kernel/families.h"
#include "loops/lowering/kernel/scalar.h"

namespace hone::loops {

using hlo::Opcode;

void StoreTogether(KernelWriter& writer, Nest& nest,
                   absl::Span<const Access> targets,
                   std::vector<ExpressionPtr> values,
                   const ExpressionPtr& predicate) {
  const auto store = [&](const Access& target, ExpressionPtr value) {
    nest.Store(target, std::move(value), std::nullopt, predicate);
  };
  if (targets.size() > 1) {
    for (ExpressionPtr& value : values) {
      const Access held{nest.Temporary("next", value->type()), {}};
      store(held, std::move(value));
      value = writer.Load(held);
    }
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    store(targets[i], std::move(values[i]));
  }
}

namespace {

// A region of a single operation, such as a sum: reduced in any order.
absl::Status ReduceBy(KernelWriter& writer, Nest& nest, Opcode opcode,
                      ValueId value, ValueId operand, ValueId init,
                      const std::vector<bool>& is_reduced) {
  const ValueGraph& graph = writer.graph();
  const Indices kept = nest.AddLoops(graph.dimensions(value));
  HONE_ASSIGN_OR_RETURN(ExpressionPtr start, writer.Read(nest, init, {}));
  const Access sum = writer.Target(nest, value, kept);
  nest.Store(sum, std::move(start));
  Indices at;
  size_t next_kept = 0;
  for (size_t d = 0; d < is_reduced.size(); ++d) {
    at.push_back(is_reduced[d]
                     ? Index(nest.AddLoop(graph.dimensions(operand)[d]))
                     : kept[next_kept++]);
  }
  HONE_ASSIGN_OR_RETURN(ExpressionPtr element, writer.Read(nest, operand, at));
  nest.Store(sum, std::move(element), opcode);
  nest.CloseTo(0);
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteReduce(KernelWriter& writer, Nest& nest,
                         hlo::InstructionId id) {
  const ValueGraph& graph = writer.graph();
  const hlo::Instruction& instruction = graph.computation()[id];
  const absl::Span<const ValueId> results = graph.leaves(id);
  const std::vector<ValueId>& operands = graph.operands(id);
  const size_t count = results.size();
  const hlo::DimensionVector& sizes = graph.dimensions(operands[0]);
  std::vector<bool> is_reduced(sizes.size());
  for (int64_t d : instruction.dimensions()) {
    is_reduced[static_cast<size_t>(d)] = true;
  }
  const hlo::ComputationId region = instruction.called()[0];
  const std::optional<Opcode> opcode =
      hlo::ReductionOpcode(graph.module().computation(region));
  if (count == 1 && opcode.has_value()) {
    return ReduceBy(writer, nest, *opcode, results[0], operands[0], operands[1],
                    is_reduced);
  }

  if (const std::optional<ArgReduce> reduce = AsArgReduce(graph, id)) {
    return WriteArgReduce(writer, nest, id, *reduce);
  }

  const Indices kept = nest.AddLoops(graph.dimensions(results[0]));
  std::vector<Access> targets;
  std::vector<ExpressionPtr> arguments;
  for (size_t i = 0; i < count; ++i) {
    targets.push_back(writer.Target(nest, results[i], kept));
    arguments.push_back(writer.Load(targets[i]));
    HONE_ASSIGN_OR_RETURN(ExpressionPtr init,
                          writer.Read(nest, operands[count + i], {}));
    nest.Store(targets[i], std::move(init));
  }
  Indices at;
  size_t next_kept = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    at.push_back(is_reduced[d] ? Index(nest.AddLoop(sizes[d]))
                               : kept[next_kept++]);
  }
  for (size_t i = 0; i < count; ++i) {
    HONE_ASSIGN_OR_RETURN(ExpressionPtr element,
                          writer.Read(nest, operands[i], at));
    arguments.push_back(std::move(element));
  }
  HONE_ASSIGN_OR_RETURN(std::vector<ExpressionPtr> values,
                        ApplyRegion(graph.module(), region, arguments));
  StoreTogether(writer, nest, targets, std::move(values), nullptr);
  nest.CloseTo(0);
  return absl::OkStatus();
}

}  // namespace hone::loops
