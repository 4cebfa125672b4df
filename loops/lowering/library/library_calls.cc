#include "loops/lowering/library/library_calls.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/lowering/graph/opcode_traits.h"
#include "loops/lowering/graph/unsupported.h"
#include "loops/lowering/library/lapack_calls.h"

namespace hone::loops {
namespace {

using hlo::DimensionVector;
using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionId;
using hlo::Opcode;
using hlo::Shape;
using hlo::ShapePtr;

// Exchanges the last two dimensions.
InstructionId Transposed(hlo::Computation& computation, InstructionId operand) {
  const ShapePtr shape = computation[operand].shape_ptr();
  DimensionVector order;
  for (int64_t i = 0; i < shape->rank(); ++i) order.push_back(i);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  DimensionVector dimensions;
  for (int64_t i : order) dimensions.push_back(shape->dimension(i));
  auto attributes = std::make_shared<hlo::Attributes>();
  attributes->dimensions = order;
  return computation.AddInstruction(Instruction(
      Opcode::kTranspose, Shape::Array(shape->element_type(), dimensions),
      {operand}, std::move(attributes)));
}

void Replace(hlo::Computation& computation, InstructionId id,
             const LibraryCall& call) {
  const Instruction old = computation[id];
  std::vector<InstructionId> operands;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const InstructionId operand = old.operand(i);
    operands.push_back(call.operands[i].is_transposed
                           ? Transposed(computation, operand)
                           : operand);
  }
  std::vector<ShapePtr> shapes;
  for (const LibraryArray& array : call.results) {
    DimensionVector dimensions = array.dimensions;
    if (array.is_transposed) {
      std::swap(dimensions[dimensions.size() - 1],
                dimensions[dimensions.size() - 2]);
    }
    shapes.push_back(Shape::Array(array.type, dimensions));
  }
  auto attributes = std::make_shared<hlo::Attributes>();
  attributes->custom_call_target = call.function;
  attributes->dimensions = call.attributes;
  Instruction made(Opcode::kCustomCall, Shape::Tuple(shapes), operands,
                   std::move(attributes));
  made.set_name(old.name());
  const InstructionId made_id = computation.AddInstruction(std::move(made));
  std::vector<InstructionId> results;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const InstructionId element =
        computation.AddInstruction(Instruction::GetTupleElement(
            shapes[i], made_id, static_cast<int32_t>(i)));
    results.push_back(call.results[i].is_transposed
                          ? Transposed(computation, element)
                          : element);
  }
  const InstructionId replacement =
      old.shape().IsTuple() ? computation.AddInstruction(Instruction(
                                  Opcode::kTuple, old.shape_ptr(), results))
                            : results[0];
  computation.ReplaceAllUses(id, replacement);
  computation.Remove(id);
}

// Replaces a transform of the last dimensions.
absl::Status ReplaceFft(hlo::Computation& computation, InstructionId id) {
  const Instruction old = computation[id];
  const std::string* kind_name = old.attributes().FindOther("fft_type");
  constexpr absl::string_view kKinds[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  const auto* kind = kind_name == nullptr
                         ? std::end(kKinds)
                         : std::find(std::begin(kKinds), std::end(kKinds),
                                     absl::string_view(*kind_name));
  const DimensionVector& lengths = old.dimensions();
  const Shape& from = computation[old.operand(0)].shape();
  const Shape& to = old.shape();
  const size_t rank = lengths.size();
  if (kind == std::end(kKinds) || rank == 0 || from.rank() != to.rank() ||
      to.dimensions().size() < rank || from.is_dynamic()) {
    return Unsupported(old, "its shapes");
  }
  DimensionVector full(to.dimensions().begin(), to.dimensions().end());
  std::copy(lengths.begin(), lengths.end(),
            full.end() - static_cast<std::ptrdiff_t>(rank));
  DimensionVector half = full;
  half.back() = lengths.back() == 0 ? 0 : lengths.back() / 2 + 1;
  const bool is_to_real = *kind == "IRFFT";
  const bool is_from_real = *kind == "RFFT";
  if (from.dimensions() != (is_to_real ? half : full) ||
      to.dimensions() != (is_from_real ? half : full)) {
    return Unsupported(old, "its shapes");
  }
  const bool is_double = to.element_type() == ElementType::kF64 ||
                         to.element_type() == ElementType::kC128;
  int64_t batch = 1;
  for (size_t i = 0; i + rank < to.dimensions().size(); ++i) {
    batch *= to.dimensions()[i];
  }
  auto attributes = std::make_shared<hlo::Attributes>();
  attributes->custom_call_target = std::string(kFftFunction);
  attributes->dimensions = {is_double ? 1 : 0, kind - std::begin(kKinds), batch,
                            static_cast<int64_t>(rank)};
  attributes->dimensions.insert(attributes->dimensions.end(), lengths.begin(),
                                lengths.end());
  const ShapePtr shape = Shape::Array(to.element_type(), to.dimensions());
  Instruction made(Opcode::kCustomCall, Shape::Tuple({shape}), {old.operand(0)},
                   std::move(attributes));
  made.set_name(old.name());
  const InstructionId tuple = computation.AddInstruction(std::move(made));
  computation.ReplaceAllUses(
      id, computation.AddInstruction(
              Instruction::GetTupleElement(shape, tuple, 0)));
  computation.Remove(id);
  return absl::OkStatus();
}

}  // namespace

absl::Status UseLibraryCalls(hlo::Module& module) {
  for (hlo::ComputationId id : module.ComputationIds()) {
    std::vector<InstructionId> instructions;
    for (const Instruction& i : module.computation(id).instructions()) {
      if (IsLibraryCall(i)) return Unsupported(i, "a reserved target");
      if (i.opcode() == Opcode::kFft || IsLinearAlgebra(i)) {
        instructions.push_back(i.id());
      }
    }
    for (InstructionId i : instructions) {
      hlo::Computation& computation = module.mutable_computation(id);
      if (computation[i].opcode() == Opcode::kFft) {
        HONE_RETURN_IF_ERROR(ReplaceFft(computation, i));
        continue;
      }
      HONE_ASSIGN_OR_RETURN(const LibraryCall call,
                            ReadLapackCall(computation, computation[i]));
      Replace(computation, i, call);
    }
  }
  return absl::OkStatus();
}

}  // namespace hone::loops
