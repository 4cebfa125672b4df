#ifndef HONE_HLO_IR_INSTRUCTION_H_
#define HONE_HLO_IR_INSTRUCTION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

#include "hlo/ir/attributes.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/opcode.h"
#include "hlo/ir/shape.h"

namespace hone::hlo {

// The index of an instruction in its computation. It stays the same for the
// computation's life and in every fork of it, until Computation::Compact.
using InstructionId = int32_t;
inline constexpr InstructionId kNoInstruction = -1;
// The index of a computation in its module; likewise stable.
using ComputationId = int32_t;
inline constexpr ComputationId kNoComputation = -1;

using InstructionIds = absl::InlinedVector<InstructionId, 4>;
using ComputationIds = absl::InlinedVector<ComputationId, 2>;

// One operation. A value type: build one, then hand it to
// Computation::AddInstruction, which keeps operands and users consistent.
// Large or rare parts are immutable and shared, so that copying is cheap.
class Instruction {
 public:
  Instruction() = default;
  Instruction(Opcode opcode, ShapePtr shape,
              absl::Span<const InstructionId> operands = {},
              std::shared_ptr<const Attributes> attributes = NoAttributes())
      : opcode_(opcode),
        operands_(operands.begin(), operands.end()),
        shape_(std::move(shape)),
        attributes_(std::move(attributes)) {}

  static Instruction Constant(Literal literal);
  static Instruction Parameter(int32_t number, ShapePtr shape);
  static Instruction GetTupleElement(ShapePtr shape, InstructionId operand,
                                     int32_t index);

  // The same operation on other operands: everything is copied except operands,
  // users and the name.
  Instruction WithOperands(absl::Span<const InstructionId> operands) const;

  // The slot that Computation::AddInstruction gave it; kNoInstruction before.
  InstructionId id() const { return id_; }
  Opcode opcode() const { return opcode_; }
  const Shape& shape() const { return *shape_; }
  const ShapePtr& shape_ptr() const { return shape_; }
  void set_shape(ShapePtr shape) { shape_ = std::move(shape); }

  // Changed through Computation only.
  const InstructionIds& operands() const { return operands_; }
  InstructionId operand(size_t i) const { return operands_[i]; }
  size_t operand_count() const { return operands_.size(); }
  // Each user once, however many of its operands are this instruction; in no
  // meaningful order.
  const InstructionIds& users() const { return users_; }

  const Attributes& attributes() const { return *attributes_; }
  const std::shared_ptr<const Attributes>& attributes_ptr() const {
    return attributes_;
  }
  void set_attributes(std::shared_ptr<const Attributes> attributes) {
    attributes_ = std::move(attributes);
  }
  const DimensionVector& dimensions() const { return attributes_->dimensions; }

  // Computations this calls, in the order: to_apply | condition, body | select,
  // scatter | branches (true before false) | calls | called_computations.
  const ComputationIds& called() const { return called_; }
  void set_called(ComputationIds called) { called_ = std::move(called); }

  // parameter: its number; get-tuple-element: its index.
  int32_t index() const { return index_; }
  void set_index(int32_t index) { index_ = index; }

  // The value of a constant; null for other opcodes.
  const LiteralPtr& literal() const { return literal_; }
  void set_literal(LiteralPtr literal) { literal_ = std::move(literal); }

  // Without `%`; empty for instructions that a pass made: readers and passes
  // may leave it so, the printers then choose a unique one.
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  // The value of metadata={...}, braces left out; null when there is none.
  // Never part of the meaning.
  const std::shared_ptr<const std::string>& metadata() const {
    return metadata_;
  }
  void set_metadata(std::shared_ptr<const std::string> metadata) {
    metadata_ = std::move(metadata);
  }

  // The name of an opcode that we do not know; null for known ones.
  const std::shared_ptr<const std::string>& unknown_opcode() const {
    return unknown_opcode_;
  }
  void set_unknown_opcode(std::shared_ptr<const std::string> name) {
    unknown_opcode_ = std::move(name);
  }

  // False for a slot whose instruction was removed. Computation::instructions()
  // has live ones only; this is for hlo/ir and hlo/rewrite.
  bool is_live() const { return live_; }

  bool IsConstant() const { return opcode_ == Opcode::kConstant; }

 private:
  friend class Computation;

  Opcode opcode_ = Opcode::kUnknown;
  bool live_ = true;
  InstructionId id_ = kNoInstruction;
  int32_t index_ = 0;
  InstructionIds operands_;
  InstructionIds users_;
  ComputationIds called_;
  ShapePtr shape_;
  std::shared_ptr<const Attributes> attributes_ = NoAttributes();
  LiteralPtr literal_;
  std::shared_ptr<const std::string> metadata_;
  std::shared_ptr<const std::string> unknown_opcode_;
  std::string name_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_IR_INSTRUCTION_H_
