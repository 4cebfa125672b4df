// Stores of vectors whose elements lie two apart in memory, such as the real and
// the imaginary parts of complex numbers.

#include <optional>

#include <llvm/IR/Constants.h>

#include "backends/llvm/function_emitter.h"
#include "loops/ir/rewrite.h"

namespace hone::backends {
namespace {

using loops::Access;
using loops::Affine;
using loops::Buffer;
using loops::Statement;

// Returns the element of the buffer that is accessed; nullopt if that depends
// on data.
std::optional<Affine> ElementOf(const loops::Program& program,
                                const Access& access) {
  const Buffer& buffer = program.buffer(access.buffer);
  const bool is_flat =
      access.indices.size() == 1 && buffer.dimensions.size() != 1;
  Affine element;
  for (size_t i = 0; i < access.indices.size(); ++i) {
    if (access.indices[i].offset != nullptr) return std::nullopt;
    element += access.indices[i].affine * (is_flat ? 1 : buffer.strides[i]);
  }
  return element;
}

bool IsPlainStore(const Statement& statement) {
  return !statement.combine.has_value() && statement.predicate == nullptr &&
         !statement.non_temporal;
}

}  // namespace

bool FunctionEmitter::AreInterleaved(const Statement& first,
                                     const Statement& second) const {
  if (lanes_ == 0 || mask_ != nullptr || !IsPlainStore(first) ||
      !IsPlainStore(second) || first.target.buffer != second.target.buffer) {
    return false;
  }
  const std::optional<Affine> from = ElementOf(context_.program, first.target);
  const std::optional<Affine> to = ElementOf(context_.program, second.target);
  if (!from.has_value() || !to.has_value() ||
      from->coefficient(lane_var_) != 2 || *to != *from + Affine(1)) {
    return false;
  }
  bool reads_target = false;
  loops::VisitAccesses(second, [&](const Access& access, bool is_target) {
    reads_target |= !is_target && access.buffer == first.target.buffer;
  });
  return !reads_target;
}

void FunctionEmitter::EmitInterleaved(const Statement& first,
                                      const Statement& second) {
  const loops::BufferId buffer = first.target.buffer;
  const hlo::ElementType type = context_.program.buffer(buffer).type;
  // Nothing is stored between the two, so they share their loads.
  const std::vector<Memo> outer_memo = std::exchange(memo_, {Memo()});
  llvm::Value* low =
      arithmetic_.ToStorage(type, Splat(EmitExpression(first.value)));
  llvm::Value* high =
      arithmetic_.ToStorage(type, Splat(EmitExpression(second.value)));
  llvm::SmallVector<int> lanes;
  for (int lane = 0; lane < static_cast<int>(lanes_); ++lane) {
    lanes.push_back(lane);
    lanes.push_back(lane + static_cast<int>(lanes_));
  }
  const Address address = EmitAddress(first.target);
  Annotate(buffer,
           b_.CreateAlignedStore(
               b_.CreateShuffleVector(low, high, lanes), address.pointer,
               llvm::Align(static_cast<uint64_t>(hlo::ByteWidth(type)))));
  memo_ = outer_memo;
}

}  // namespace hone::backends
