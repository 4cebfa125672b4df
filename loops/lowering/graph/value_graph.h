#ifndef HONE_LOOPS_LOWERING_GRAPH_VALUE_GRAPH_H_
#define HONE_LOOPS_LOWERING_GRAPH_VALUE_GRAPH_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "hlo/ir/id_map.h"
#include "hlo/ir/module.h"

namespace hone::loops {

// Index of an array value in its ValueGraph.
using ValueId = int32_t;

// An array that an instruction produces: leaf number `leaf` of its shape, with
// nested tuples flattened.
struct Value {
  hlo::InstructionId instruction = hlo::kNoInstruction;
  int32_t leaf = 0;
  hlo::ShapePtr shape;
};

// Returns true if an instruction of this opcode has the elements of its
// operand, in the same row-major order.
bool IsSameBytes(hlo::Opcode opcode);

// A computation as a graph of arrays: tuples, and instructions that only pack,
// unpack or forward them, are resolved. Contains the instructions that the root
// depends on, and every parameter. Module and computation must outlive it.
class ValueGraph {
 public:
  // Returns Unimplemented for element types, shapes and side effects that
  // kernels do not support, naming the instruction.
  static absl::StatusOr<ValueGraph> Create(const hlo::Module& module,
                                           hlo::ComputationId computation);

  const hlo::Module& module() const { return *module_; }
  const hlo::Computation& computation() const { return *computation_; }

  int32_t size() const { return static_cast<int32_t>(values_.size()); }
  const Value& operator[](ValueId id) const {
    return values_[static_cast<size_t>(id)];
  }
  const hlo::Instruction& instruction(ValueId id) const {
    return (*computation_)[values_[static_cast<size_t>(id)].instruction];
  }
  const hlo::DimensionVector& dimensions(ValueId id) const {
    return values_[static_cast<size_t>(id)].shape->dimensions();
  }
  hlo::ElementType type(ValueId id) const {
    return values_[static_cast<size_t>(id)].shape->element_type();
  }

  // The arrays of an instruction in order(), or of a tuple among its operands.
  absl::Span<const ValueId> leaves(hlo::InstructionId id) const {
    return leaves_.at(id);
  }
  // The arrays of its operands, concatenated.
  const std::vector<ValueId>& operands(hlo::InstructionId id) const {
    return operands_.at(id);
  }
  ValueId operand(ValueId id, size_t i) const {
    return operands((*this)[id].instruction)[i];
  }

  // The instructions that produce values, except parameters, operands first.
  const std::vector<hlo::InstructionId>& order() const { return order_; }
  // The arrays of the parameters, and those of the root, in order.
  const std::vector<ValueId>& parameters() const { return parameters_; }
  const std::vector<ValueId>& results() const { return results_; }

  // The origin of the bytes of a value: the value itself, or the operand that a
  // chain of reshapes, bitcasts and copies forwards.
  ValueId Source(ValueId id) const;

 private:
  absl::Status Add(hlo::InstructionId id);

  const hlo::Module* module_ = nullptr;
  const hlo::Computation* computation_ = nullptr;
  std::vector<Value> values_;
  hlo::IdMap<std::vector<ValueId>> leaves_;
  hlo::IdMap<std::vector<ValueId>> operands_;
  std::vector<hlo::InstructionId> order_;
  std::vector<ValueId> parameters_;
  std::vector<ValueId> results_;
};

// Returns true if each element of the array is its index in `dimension`, by an
// iota that may be broadcast.
bool NumbersElements(const ValueGraph& graph, ValueId value, int64_t dimension);

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_GRAPH_VALUE_GRAPH_H_
