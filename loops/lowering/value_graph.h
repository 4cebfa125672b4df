#ifndef HONE_LOOPS_LOWERING_VALUE_GRAPH_H_
#define HONE_LOOPS_LOWERING_VALUE_GRAPH_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "hlo/ir/module.h"

namespace hone::loops {

// Index of an array value in its ValueGraph.
using ValueId = int32_t;

// An array that an instruction makes: leaf `leaf` of its shape, tuples counted
// through.
struct Value {
  hlo::InstructionId instruction = hlo::kNoInstruction;
  int32_t leaf = 0;
  hlo::ShapePtr shape;
};

// Whether the instruction's elements are its operand's, in row-major order.
bool IsSameBytes(hlo::Opcode opcode);

// A computation as arrays that are made from arrays: tuples, and what only
// packs, unpacks or passes them on, are looked through. Only what the root
// needs is in it, and every parameter. Module and computation must outlive it.
class ValueGraph {
 public:
  // Errors: Unimplemented for element types, shapes and effects that no kernel
  // has, naming the instruction.
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

  // The arrays of an instruction of order() or a tuple among its operands.
  absl::Span<const ValueId> leaves(hlo::InstructionId id) const {
    return leaves_[static_cast<size_t>(id)];
  }
  // Those of its operands, one after the other.
  const std::vector<ValueId>& operands(hlo::InstructionId id) const {
    return operands_[static_cast<size_t>(id)];
  }
  ValueId operand(ValueId id, size_t i) const {
    return operands((*this)[id].instruction)[i];
  }

  // Instructions that make values, parameters left out, operands first.
  const std::vector<hlo::InstructionId>& order() const { return order_; }
  // The arrays of the parameters, and those of the root, in order.
  const std::vector<ValueId>& parameters() const { return parameters_; }
  const std::vector<ValueId>& results() const { return results_; }

  // Where the bytes of a value come from: the value itself, or an operand that
  // a reshape, bitcast or copy passes on.
  ValueId Source(ValueId id) const;

 private:
  absl::Status Add(hlo::InstructionId id);

  const hlo::Module* module_ = nullptr;
  const hlo::Computation* computation_ = nullptr;
  std::vector<Value> values_;
  std::vector<std::vector<ValueId>> leaves_;    // by instruction
  std::vector<std::vector<ValueId>> operands_;  // likewise
  std::vector<hlo::InstructionId> order_;
  std::vector<ValueId> parameters_;
  std::vector<ValueId> results_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_VALUE_GRAPH_H_
