#include "tuning/output_slice.h"

#include <string>
#include <utility>

#include "base/status_macros.h"
#include "hlo/evaluator/evaluable.h"
#include "hlo/passes/pipeline.h"

namespace hone::tuning {

int64_t OutputCount(const hlo::Module& module) {
  const hlo::Computation& entry = module.entry_computation();
  const hlo::Shape& shape = entry[entry.root()].shape();
  return shape.IsTuple() ? static_cast<int64_t>(shape.tuple_elements().size())
                         : 1;
}

std::vector<int64_t> EvaluableOutputs(const hlo::Module& module) {
  const hlo::Evaluability evaluability(module);
  const hlo::Computation& entry = module.entry_computation();
  const hlo::Instruction& root = entry[entry.root()];
  std::vector<int64_t> outputs;
  for (int64_t i = 0; i < OutputCount(module); ++i) {
    const hlo::InstructionId output = root.opcode() == hlo::Opcode::kTuple
                                          ? root.operand(static_cast<size_t>(i))
                                          : root.id();
    if (evaluability.Check(output).ok()) outputs.push_back(i);
  }
  return outputs;
}

absl::StatusOr<hlo::Module> SliceOutputs(const hlo::Module& module,
                                         absl::Span<const int64_t> outputs) {
  hlo::Module slice = module;
  hlo::Computation& entry = slice.mutable_computation(slice.entry());
  const hlo::InstructionId root = entry.root();
  if (!entry[root].shape().IsTuple()) {
    return absl::FailedPreconditionError(
        "the module has one output, expected a tuple of several");
  }
  std::vector<hlo::InstructionId> elements;
  std::vector<hlo::ShapePtr> shapes;
  std::vector<hlo::ShapePtr> result_shapes;
  for (int64_t output : outputs) {
    const hlo::ShapePtr shape = entry[root].shape().tuple_element(output);
    // A root that is not a tuple instruction (a call, a loop) is needed whole.
    elements.push_back(
        entry[root].opcode() == hlo::Opcode::kTuple
            ? entry[root].operand(static_cast<size_t>(output))
            : entry.AddInstruction(hlo::Instruction::GetTupleElement(
                  shape, root, static_cast<int32_t>(output))));
    shapes.push_back(shape);
    result_shapes.push_back(slice.entry_result_shape()->tuple_element(output));
  }
  entry.set_root(entry.AddInstruction(hlo::Instruction(
      hlo::Opcode::kTuple, hlo::Shape::Tuple(std::move(shapes)), elements)));
  slice.set_entry_shapes(slice.entry_parameter_shapes(),
                         hlo::Shape::Tuple(std::move(result_shapes)));
  const std::string dce = "dce";
  HONE_RETURN_IF_ERROR(
      hlo::RunPasses(slice, absl::MakeConstSpan(&dce, 1)).status());
  return slice;
}

}  // namespace hone::tuning
