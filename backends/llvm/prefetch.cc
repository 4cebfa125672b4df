#include <algorithm>
#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "backends/llvm/function_emitter.h"
#include "loops/ir/rewrite.h"

namespace hone::backends {
namespace {

using loops::Access;
using loops::Affine;
using loops::Buffer;
using loops::Loop;
using loops::LoopMode;
using loops::Node;

constexpr int64_t kLineBytes = 64;
// The largest number of prefetches per iteration; more would evict data in use.
constexpr size_t kMostLines = 32;

}  // namespace

void FunctionEmitter::EmitPrefetch(const Loop& loop) {
  std::vector<Line> lines;
  CollectLines(loop, loop.body, lines);
  for (const Line& line : lines) {
    // The address may be out of bounds.
    llvm::Value* pointer = b_.CreateGEP(
        StorageOf(line.buffer), bases_[static_cast<size_t>(line.buffer)],
        EmitUniform(line.rest));
    pointer = b_.CreateGEP(b_.getInt8Ty(), pointer, Int64(line.bytes));
    // For reading, to stay in all caches, of data.
    b_.CreateIntrinsic(
        llvm::Intrinsic::prefetch, {pointer->getType()},
        {pointer, b_.getInt32(0), b_.getInt32(3), b_.getInt32(1)});
  }
}

// Collects loads, including those in unrolled and vector loops; inner
// sequential loops prefetch for themselves.
void FunctionEmitter::CollectLines(const Loop& moving,
                                   const std::vector<Node>& body,
                                   std::vector<Line>& lines) {
  for (const Node& node : body) {
    if (node.statement() != nullptr) {
      loops::VisitAccesses(*node.statement(),
                           [&](const Access& access, bool is_target) {
                             if (!is_target)
                               CollectLines(moving, access, lines);
                           });
      continue;
    }
    const Loop& loop = *node.loop();
    if (loop.mode == LoopMode::kUnrolled) {
      for (int64_t i = 0; i < loop.extent; ++i) {
        variables_[loop.var] = {Int64(i), {i, i}};
        CollectLines(moving, loop.body, lines);
      }
    } else if (loop.mode == LoopMode::kVector && loop.extent > 0) {
      for (const int64_t lane : {int64_t{0}, loop.extent - 1}) {
        variables_[loop.var] = {Int64(lane), {lane, lane}};
        CollectLines(moving, loop.body, lines);
      }
    }
    variables_.erase(loop.var);
  }
}

void FunctionEmitter::CollectLines(const Loop& moving, const Access& load,
                                   std::vector<Line>& lines) {
  const Buffer& buffer = context_.program.buffer(load.buffer);
  const bool is_flat =
      load.indices.size() == 1 && buffer.dimensions.size() != 1;
  Affine linear;
  for (size_t i = 0; i < load.indices.size(); ++i) {
    if (load.indices[i].offset != nullptr) return;
    linear += load.indices[i].affine * (is_flat ? 1 : buffer.strides[i]);
  }
  const int64_t width = hlo::ByteWidth(buffer.type);
  const int64_t step = linear.coefficient(moving.var) * width;
  // Slowly moving addresses are prefetched by the processor, or would be
  // prefetched many times.
  if (buffer.memory == loops::Memory::kRegister ||
      std::max(step, -step) < kLineBytes / 2) {
    return;
  }
  Line line;
  line.buffer = load.buffer;
  line.bytes = linear.constant() * width + step * moving.prefetch;
  for (const Affine::Term& term : linear.terms()) {
    const auto* number =
        llvm::dyn_cast<llvm::ConstantInt>(variables_.at(term.var).value);
    if (number == nullptr) {
      line.rest += Affine::Var(term.var, term.coefficient);
    } else {
      line.bytes += term.coefficient * number->getSExtValue() * width;
    }
  }
  // Assumes that the rest starts at a line boundary.
  line.bytes -= ((line.bytes % kLineBytes) + kLineBytes) % kLineBytes;
  if (lines.size() < kMostLines &&
      std::find(lines.begin(), lines.end(), line) == lines.end()) {
    lines.push_back(std::move(line));
  }
}

}  // namespace hone::backends
