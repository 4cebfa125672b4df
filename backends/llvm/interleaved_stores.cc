// Adjacent statements of a vector loop that write adjacent elements, as one
// store:
//
//   for i 16 vector        for i 16 vector
//   | c[i,0] = a[i]        | c[i,j,0] = a[j,2*i]
//   | c[i,1] = b[i]        | c[i,j,1] = a[j,2*i+1]
//
// Either there are no other elements between those of different lanes, or the
// elements are copied from adjacent ones, together 32 bits: then these are
// copied as one number.

#include <algorithm>

#include <llvm/IR/Constants.h>

#include "backends/llvm/function_emitter.h"
#include "loops/ir/code_limits.h"
#include "loops/ir/element_number.h"
#include "loops/ir/rewrite.h"

namespace hone::backends {
namespace {

using loops::Access;
using loops::IsBehind;
using loops::Node;
using loops::Statement;

constexpr int64_t kWordBytes = 4;

bool IsPlainStore(const Statement& statement) {
  bool reads_target = false;
  loops::VisitLoads(*statement.value, [&](const Access& load) {
    reads_target |= load.buffer == statement.target.buffer;
  });
  return !statement.combine.has_value() && statement.predicate == nullptr &&
         !statement.non_temporal && !reads_target;
}

}  // namespace

// Returns the number of statements from `first` on that copy adjacent elements,
// together 32 bits; 0 where there are no such copies.
size_t FunctionEmitter::CountWordCopies(const std::vector<Node>& nodes,
                                        size_t first) const {
  const loops::Program& program = context_.program;
  const size_t count = CountAdjacentStores(nodes, first);
  const Access& target = nodes[first].statement()->target;
  const hlo::ElementType type = program.buffer(target.buffer).type;
  const loops::Expression& value = *nodes[first].statement()->value;
  if (count < 2 || value.kind() != loops::Expression::Kind::kLoad ||
      program.buffer(value.access().buffer).type != type ||
      hlo::ByteWidth(type) * static_cast<int64_t>(count) != kWordBytes) {
    return 0;
  }
  for (size_t i = 0; i < count; ++i) {
    const loops::Expression& other = *nodes[first + i].statement()->value;
    if (other.kind() != loops::Expression::Kind::kLoad ||
        !IsBehind(program, value.access(), other.access(),
                  static_cast<int64_t>(i))) {
      return 0;
    }
  }
  return count;
}

// Copies numbers of 32 bits; returns false if the statements are no such
// copies.
bool FunctionEmitter::EmitWordCopies(const std::vector<Node>& nodes,
                                     size_t first, size_t count) {
  if (CountWordCopies(nodes, first) != count) return false;
  const Access& target = nodes[first].statement()->target;
  const hlo::ElementType type = context_.program.buffer(target.buffer).type;
  const loops::Expression& value = *nodes[first].statement()->value;
  const auto is_dense = [&](const Address& address) {
    return address.offsets == nullptr &&
           address.stride == static_cast<int64_t>(count);
  };
  const Address from = EmitAddress(value.access());
  const Address to = EmitAddress(target);
  if (is_dense(from) == is_dense(to) && !is_dense(from)) return false;
  llvm::Type* word = b_.getInt32Ty();
  llvm::Type* words =
      llvm::FixedVectorType::get(word, static_cast<unsigned>(lanes_));
  const llvm::Align align(static_cast<uint64_t>(hlo::ByteWidth(type)));
  llvm::Value* copied = llvm::PoisonValue::get(words);
  const auto block = transposed_words_.find(&value);
  const bool is_there = block != transposed_words_.end();
  if (is_there) {
    const int64_t number = variables_.at(block->second.var).range.lo;
    copied = block->second.values[static_cast<size_t>(number)];
  } else if (is_dense(from)) {
    copied = Annotate(value.access().buffer,
                      b_.CreateAlignedLoad(words, from.pointer, align));
  }
  for (int64_t lane = 0; lane < lanes_ && !is_there && !is_dense(from);
       ++lane) {
    copied = b_.CreateInsertElement(
        copied,
        Annotate(
            value.access().buffer,
            b_.CreateAlignedLoad(
                word, LanePointer(value.access().buffer, from, lane), align)),
        static_cast<uint64_t>(lane));
  }
  if (is_dense(to)) {
    Annotate(target.buffer, b_.CreateAlignedStore(copied, to.pointer, align));
    return true;
  }
  for (int64_t lane = 0; lane < lanes_; ++lane) {
    Annotate(target.buffer,
             b_.CreateAlignedStore(
                 b_.CreateExtractElement(copied, static_cast<uint64_t>(lane)),
                 LanePointer(target.buffer, to, lane), align));
  }
  return true;
}

// Returns the number of statements from `first` on that write adjacent
// elements.
size_t FunctionEmitter::CountAdjacentStores(const std::vector<Node>& nodes,
                                            size_t first) const {
  const Statement& statement = *nodes[first].statement();
  size_t count = 0;
  while (count < loops::kMostInterleavedStores &&
         first + count < nodes.size()) {
    const Statement& other = *nodes[first + count].statement();
    if (!IsPlainStore(other) ||
        !IsBehind(context_.program, statement.target, other.target,
                  static_cast<int64_t>(count))) {
      break;
    }
    ++count;
  }
  return count;
}

void FunctionEmitter::EmitInterleavedStores(const std::vector<Node>& nodes,
                                            size_t first, size_t count) {
  const Access& target = nodes[first].statement()->target;
  const hlo::ElementType type = context_.program.buffer(target.buffer).type;
  const std::vector<Memo> outer_memo = std::exchange(memo_, {Memo()});
  std::vector<llvm::Value*> values;
  for (size_t i = first; i < first + count; ++i) {
    values.push_back(arithmetic_.ToStorage(
        type, Splat(EmitExpression(nodes[i].statement()->value))));
  }
  const Address address = EmitAddress(target);
  memo_ = outer_memo;
  // Pairs of vectors are joined, then lanes are put in order.
  while (values.size() < 4) {
    values.push_back(llvm::PoisonValue::get(values[0]->getType()));
  }
  const int64_t lanes = lanes_;
  std::vector<int> all;
  for (int i = 0; i < 2 * lanes; ++i) all.push_back(i);
  llvm::Value* low = b_.CreateShuffleVector(values[0], values[1], all);
  llvm::Value* high = b_.CreateShuffleVector(values[2], values[3], all);
  std::vector<int> order;
  for (int lane = 0; lane < lanes; ++lane) {
    for (size_t i = 0; i < count; ++i) {
      order.push_back(static_cast<int>(i) * static_cast<int>(lanes) + lane);
    }
  }
  llvm::Value* joined = count == 2 ? b_.CreateShuffleVector(low, order)
                                   : b_.CreateShuffleVector(low, high, order);
  Annotate(target.buffer,
           b_.CreateAlignedStore(
               joined, address.pointer,
               llvm::Align(static_cast<uint64_t>(hlo::ByteWidth(type)))));
}

void FunctionEmitter::EmitLaneStatements(const std::vector<Node>& nodes) {
  for (size_t i = 0; i < nodes.size();) {
    const size_t count =
        mask_ == nullptr ? CountAdjacentStores(nodes, i) : size_t{1};
    if (count > 1 && EmitWordCopies(nodes, i, count)) {
      i += count;
      continue;
    }
    if (count > 1 && EmitAddress(nodes[i].statement()->target).stride ==
                         static_cast<int64_t>(count)) {
      EmitInterleavedStores(nodes, i, count);
      i += count;
      continue;
    }
    EmitStatement(*nodes[i].statement());
    ++i;
  }
}

}  // namespace hone::backends
