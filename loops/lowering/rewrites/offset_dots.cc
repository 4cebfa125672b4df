#include "loops/lowering/rewrites/offset_dots.h"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

#include "hlo/ir/literal.h"

namespace hone::loops {
namespace {

using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using hlo::ShapePtr;

// The least number of rows and of columns of a dot, and of its steps.
constexpr int64_t kLeastSide = 32;
constexpr int64_t kLeastSteps = 16;

int64_t ProductOf(const hlo::Shape& shape, const hlo::DimensionVector& of) {
  int64_t product = 1;
  for (int64_t d : of) product *= shape.dimensions()[static_cast<size_t>(d)];
  return product;
}

bool IsWorthIt(const hlo::Computation& computation, const Instruction& dot) {
  const ElementType type = dot.shape().element_type();
  const hlo::Shape& lhs = computation[dot.operand(0)].shape();
  const hlo::Shape& rhs = computation[dot.operand(1)].shape();
  if ((type != ElementType::kS32 && type != ElementType::kU32) ||
      lhs.element_type() != ElementType::kS8 ||
      rhs.element_type() != ElementType::kS8) {
    return false;
  }
  const hlo::DotDimensions& dims = *dot.attributes().dot;
  const int64_t steps = ProductOf(lhs, dims.lhs_contracting);
  const int64_t batches = ProductOf(lhs, dims.lhs_batch);
  if (steps < kLeastSteps || batches < 1) return false;
  return lhs.num_elements() / (batches * steps) >= kLeastSide &&
         rhs.num_elements() / (batches * steps) >= kLeastSide;
}

// Adds instructions to one computation of a module.
class DotOffsetter {
 public:
  DotOffsetter(hlo::Module& module, hlo::ComputationId id)
      : module_(module), id_(id) {}

  void Run() {
    std::vector<InstructionId> dots;
    for (const Instruction& i : module_.computation(id_).instructions()) {
      if (i.opcode() == Opcode::kDot &&
          IsWorthIt(module_.computation(id_), i)) {
        dots.push_back(i.id());
      }
    }
    for (InstructionId dot : dots) Offset(dot);
  }

 private:
  const Instruction& At(InstructionId id) const {
    return module_.computation(id_)[id];
  }

  InstructionId Add(
      Opcode opcode, ShapePtr shape, absl::Span<const InstructionId> operands,
      std::shared_ptr<const hlo::Attributes> attributes = hlo::NoAttributes()) {
    return module_.mutable_computation(id_).AddInstruction(
        Instruction(opcode, std::move(shape), operands, std::move(attributes)));
  }

  InstructionId AddScalar(ElementType type, int64_t value) {
    hlo::Literal literal(hlo::Shape::Scalar(type));
    literal.SetInt(0, value);
    return module_.mutable_computation(id_).AddInstruction(
        Instruction::Constant(std::move(literal)));
  }

  // Returns an array of `value` with the dimensions of `like`.
  InstructionId AddUniform(ElementType type, int64_t value,
                           const hlo::Shape& like) {
    return Add(Opcode::kBroadcast, hlo::WithElementType(like, type),
               {AddScalar(type, value)});
  }

  hlo::ComputationId Addition(ElementType type) {
    const ShapePtr scalar = hlo::Shape::Scalar(type);
    hlo::Computation region("add_bytes");
    const InstructionId a =
        region.AddInstruction(Instruction::Parameter(0, scalar));
    const InstructionId b =
        region.AddInstruction(Instruction::Parameter(1, scalar));
    region.set_root(
        region.AddInstruction(Instruction(Opcode::kAdd, scalar, {a, b})));
    return module_.AddComputation(std::move(region));
  }

  // Returns the sum of the right operand over what the dot contracts.
  InstructionId AddSum(const Instruction& dot) {
    const ElementType type = dot.shape().element_type();
    const InstructionId rhs = dot.operand(1);
    const ShapePtr shape = At(rhs).shape_ptr();
    const hlo::DotDimensions& dims = *dot.attributes().dot;
    auto attributes = std::make_shared<hlo::Attributes>();
    attributes->dimensions = dims.rhs_contracting;
    absl::c_sort(attributes->dimensions);
    hlo::DimensionVector kept;
    for (int64_t d = 0; d < shape->rank(); ++d) {
      if (absl::c_linear_search(dims.rhs_contracting, d)) continue;
      kept.push_back(shape->dimensions()[static_cast<size_t>(d)]);
    }
    const InstructionId wide =
        Add(Opcode::kConvert, hlo::WithElementType(*shape, type), {rhs});
    Instruction reduce(Opcode::kReduce, hlo::Shape::Array(type, kept),
                       {wide, AddScalar(type, 0)}, std::move(attributes));
    reduce.set_called({Addition(type)});
    return module_.mutable_computation(id_).AddInstruction(std::move(reduce));
  }

  // Returns the dimensions of the result of a dot that those of its right
  // operand become, in the order of the latter.
  hlo::DimensionVector ResultDimensions(const Instruction& dot) const {
    const hlo::DotDimensions& dims = *dot.attributes().dot;
    const int64_t rank = At(dot.operand(1)).shape().rank();
    int64_t next = dot.shape().rank();
    for (int64_t d = 0; d < rank; ++d) {
      if (!absl::c_linear_search(dims.rhs_contracting, d) &&
          !absl::c_linear_search(dims.rhs_batch, d)) {
        --next;
      }
    }
    hlo::DimensionVector result;
    for (int64_t d = 0; d < rank; ++d) {
      if (absl::c_linear_search(dims.rhs_contracting, d)) continue;
      const auto batch = absl::c_find(dims.rhs_batch, d);
      result.push_back(batch != dims.rhs_batch.end()
                           ? batch - dims.rhs_batch.begin()
                           : next++);
    }
    return result;
  }

  void Offset(InstructionId id) {
    const ElementType type = At(id).shape().element_type();
    const ShapePtr shape = At(id).shape_ptr();
    const InstructionId lhs = At(id).operand(0);
    const ShapePtr bytes =
        hlo::WithElementType(At(lhs).shape(), ElementType::kU8);
    const InstructionId cast = Add(Opcode::kBitcastConvert, bytes, {lhs});
    const InstructionId moved = Add(
        Opcode::kXor, bytes, {cast, AddUniform(ElementType::kU8, 128, *bytes)});
    const InstructionId sum = AddSum(At(id));
    const ShapePtr sums = At(sum).shape_ptr();
    const InstructionId scaled =
        Add(Opcode::kMultiply, sums, {sum, AddUniform(type, 128, *sums)});
    auto attributes = std::make_shared<hlo::Attributes>();
    attributes->dimensions = ResultDimensions(At(id));
    const InstructionId spread =
        Add(Opcode::kBroadcast, shape, {scaled}, std::move(attributes));
    module_.mutable_computation(id_).ReplaceOperand(id, 0, moved);
    const InstructionId result = Add(Opcode::kSubtract, shape, {id, spread});
    hlo::Computation& computation = module_.mutable_computation(id_);
    computation.ReplaceAllUses(id, result);
    const std::string name = computation[id].name();
    if (name.empty()) return;
    computation.mutable_instruction(result).set_name(name);
    computation.mutable_instruction(id).set_name(absl::StrCat(name, ".moved"));
  }

  hlo::Module& module_;
  const hlo::ComputationId id_;
};

}  // namespace

void OffsetDots(hlo::Module& module) {
  for (hlo::ComputationId id : module.ComputationIds()) {
    DotOffsetter(module, id).Run();
  }
}

}  // namespace hone::loops
