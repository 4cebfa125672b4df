#include <algorithm>
#include <bit>

#include <llvm/IR/Constants.h>

#include "backends/llvm/function_emitter.h"
#include "loops/ir/transposed_blocks.h"

// Loads of blocks that are contiguous along an unrolled loop and strided along
// the vector loop in it, as in
//
//   for i 16 unrolled
//   | for j 16 vector
//   | | y[i,j] = x[j,i]
//
// Each lane's elements are loaded as one vector, and the block is transposed in
// registers. Likewise stores of such blocks, as of a register tile whose result
// is contiguous along the rows:
//
//   for i 6 unrolled
//   | for j 16 vector
//   | | y[j,i] = x[i,j]
//
// The store may follow other statements in the vector loop, as in running sums.

namespace hone::backends {
namespace {

using loops::Access;
using loops::Expression;
using loops::Loop;
using loops::LoopMode;
using loops::Node;
using Vectors = std::vector<llvm::Value*>;

// The elements of 4 bytes in the part of a register that a cheap shuffle stays
// in.
constexpr int kPart = 4;

unsigned Length(llvm::Value* vector) {
  return llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements();
}

// Returns the first `count` elements of `vector`.
llvm::Value* First(llvm::IRBuilder<>& b, llvm::Value* vector, int64_t count) {
  if (static_cast<int64_t>(Length(vector)) == count) return vector;
  std::vector<int> mask(static_cast<size_t>(count));
  for (size_t i = 0; i < mask.size(); ++i) mask[i] = static_cast<int>(i);
  return b.CreateShuffleVector(vector, mask);
}

// Interleaves groups of `size` elements in each part of two vectors: those of
// the lower half of the part, or of the upper.
llvm::Value* InterleaveInParts(llvm::IRBuilder<>& b, llvm::Value* x,
                               llvm::Value* y, int size, bool upper) {
  const int length = static_cast<int>(Length(x));
  std::vector<int> mask;
  for (int part = 0; part < length; part += kPart) {
    for (int group = 0; group < kPart / 2; group += size) {
      for (int side = 0; side < 2; ++side) {
        for (int i = 0; i < size; ++i) {
          mask.push_back(part + (upper ? kPart / 2 : 0) + group + i +
                         side * length);
        }
      }
    }
  }
  return b.CreateShuffleVector(x, y, mask);
}

// Returns the parts `part` of vectors of several parts, one after the other.
llvm::Value* JoinParts(llvm::IRBuilder<>& b, llvm::ArrayRef<llvm::Value*> from,
                       int part) {
  const int length = static_cast<int>(Length(from[0]));
  std::vector<int> mask;
  for (int i = 0; i < kPart; ++i) mask.push_back(part * kPart + i);
  if (from.size() == 1) return b.CreateShuffleVector(from[0], mask);
  for (int i = 0; i < kPart; ++i) mask.push_back(length + part * kPart + i);
  Vectors pairs;
  for (size_t k = 0; k < from.size(); k += 2) {
    pairs.push_back(b.CreateShuffleVector(from[k], from[k + 1], mask));
  }
  if (pairs.size() == 1) return pairs[0];
  std::vector<int> all(4 * kPart);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  return b.CreateShuffleVector(pairs[0], pairs[1], all);
}

// Transposes four vectors of four parts, seen as matrices of parts.
Vectors TransposeParts(llvm::IRBuilder<>& b, llvm::ArrayRef<llvm::Value*> x) {
  // Parts 2h and 2h + 1 of two vectors, then every second part of two of these.
  const auto halves = [&](size_t k, int h) {
    std::vector<int> mask;
    for (int side = 0; side < 2; ++side) {
      for (int i = 0; i < 2 * kPart; ++i) {
        mask.push_back(16 * side + 2 * kPart * h + i);
      }
    }
    return b.CreateShuffleVector(x[k], x[k + 1], mask);
  };
  const auto every_second = [&](llvm::Value* low, llvm::Value* high, int odd) {
    std::vector<int> mask;
    for (int k = 0; k < 4; ++k) {
      for (int i = 0; i < kPart; ++i) {
        mask.push_back(16 * (k / 2) + (2 * (k % 2) + odd) * kPart + i);
      }
    }
    return b.CreateShuffleVector(low, high, mask);
  };
  Vectors result;
  for (int part = 0; part < 4; ++part) {
    result.push_back(
        every_second(halves(0, part / 2), halves(2, part / 2), part % 2));
  }
  return result;
}

// Transposes vectors of 4-byte elements; their number and length are powers of
// two of at least kPart.
Vectors TransposeByParts(llvm::IRBuilder<>& b, Vectors rows) {
  const size_t groups = rows.size() / kPart;
  const size_t parts = Length(rows[0]) / kPart;
  // Within groups of four rows: each vector then has, in part p, column
  // 4p + c of the group.
  std::vector<Vectors> columns(kPart);
  for (size_t g = 0; g < groups; ++g) {
    const llvm::ArrayRef<llvm::Value*> r(&rows[g * kPart], kPart);
    for (int upper = 0; upper < 2; ++upper) {
      llvm::Value* low = InterleaveInParts(b, r[0], r[1], 1, upper != 0);
      llvm::Value* high = InterleaveInParts(b, r[2], r[3], 1, upper != 0);
      for (int c = 0; c < 2; ++c) {
        columns[static_cast<size_t>(2 * upper + c)].push_back(
            InterleaveInParts(b, low, high, 2, c != 0));
      }
    }
  }
  Vectors result(parts * kPart);
  for (size_t c = 0; c < kPart; ++c) {
    Vectors joined;
    if (groups == 4 && parts == 4) {
      joined = TransposeParts(b, columns[c]);
    } else {
      for (size_t p = 0; p < parts; ++p) {
        joined.push_back(JoinParts(b, columns[c], static_cast<int>(p)));
      }
    }
    for (size_t p = 0; p < parts; ++p) result[p * kPart + c] = joined[p];
  }
  return result;
}

// Transposes vectors, whose number and length are powers of two: interleaving
// the first half of the rows with the second turns one bit of an element's
// place from the row's number into the lane's.
Vectors TransposeByInterleaving(llvm::IRBuilder<>& b, Vectors rows) {
  const size_t count = rows.size();
  const int length = static_cast<int>(Length(rows[0]));
  for (size_t stage = 1; stage < count; stage *= 2) {
    Vectors next;
    for (size_t k = 0; k < count / 2; ++k) {
      for (int half = 0; half < 2; ++half) {
        std::vector<int> mask;
        for (int i = 0; i < length / 2; ++i) {
          mask.push_back(half * length / 2 + i);
          mask.push_back(half * length / 2 + i + length);
        }
        next.push_back(
            b.CreateShuffleVector(rows[k], rows[k + count / 2], mask));
      }
    }
    rows = std::move(next);
  }
  // Column c is elements c · count and following of all vectors.
  Vectors columns;
  for (int c = 0; c < length; ++c) {
    const int first = c * static_cast<int>(count);
    std::vector<int> mask;
    llvm::Value* column = nullptr;
    for (int i = 0; i < static_cast<int>(count); ++i) {
      mask.push_back((first + i) % length);
      if (mask.size() < static_cast<size_t>(length) &&
          i + 1 < static_cast<int>(count)) {
        continue;
      }
      llvm::Value* piece = b.CreateShuffleVector(
          rows[static_cast<size_t>((first + i) / length)], mask);
      mask.clear();
      if (column == nullptr) {
        column = piece;
        continue;
      }
      std::vector<int> both(Length(column) + Length(piece));
      for (size_t k = 0; k < both.size(); ++k) both[k] = static_cast<int>(k);
      const unsigned longer = Length(column);
      if (Length(piece) < longer) {
        std::vector<int> widen(longer, -1);
        for (unsigned k = 0; k < Length(piece); ++k) {
          widen[k] = static_cast<int>(k);
        }
        piece = b.CreateShuffleVector(piece, widen);
      }
      column = b.CreateShuffleVector(column, piece, both);
    }
    columns.push_back(column);
  }
  return columns;
}

// Transposes up to kMostTransposed vectors of up to as many elements of `bytes`
// bytes; those that make both numbers powers of two are undefined.
Vectors TransposeBlock(llvm::IRBuilder<>& b, Vectors rows, int64_t bytes) {
  const unsigned length = std::bit_ceil(Length(rows[0]));
  if (length != Length(rows[0])) {
    for (llvm::Value*& row : rows) {
      std::vector<int> mask(length, -1);
      for (unsigned i = 0; i < Length(row); ++i) mask[i] = static_cast<int>(i);
      row = b.CreateShuffleVector(row, mask);
    }
  }
  const size_t count = std::bit_ceil(rows.size());
  rows.resize(count, llvm::PoisonValue::get(rows[0]->getType()));
  return bytes == 4 && count >= kPart && length >= static_cast<unsigned>(kPart)
             ? TransposeByParts(b, std::move(rows))
             : TransposeByInterleaving(b, std::move(rows));
}

bool IsWritten(const std::vector<Node>& body, loops::BufferId buffer) {
  return std::any_of(body.begin(), body.end(), [&](const Node& node) {
    return node.statement()->target.buffer == buffer;
  });
}

}  // namespace

int64_t FunctionEmitter::StrideOf(const Access& access,
                                  loops::VarId var) const {
  const loops::Buffer& buffer = context_.program.buffer(access.buffer);
  const bool is_flat =
      access.indices.size() == 1 && buffer.dimensions.size() != 1;
  int64_t stride = 0;
  for (size_t i = 0; i < access.indices.size(); ++i) {
    stride += access.indices[i].affine.coefficient(var) *
              (is_flat ? 1 : buffer.strides[i]);
  }
  return stride;
}

void FunctionEmitter::TransposeLoads(const Loop& unrolled) {
  const Loop* const vector =
      unrolled.body.size() == 1 ? unrolled.body[0].loop() : nullptr;
  if (vector == nullptr || vector->mode != LoopMode::kVector ||
      !IsFull(unrolled) || !IsFull(*vector) ||
      !loops::CanTranspose(unrolled, *vector) ||
      LanesAtOnce(*vector) != vector->extent) {
    return;
  }
  TransposeWords(unrolled, *vector);
  const auto transpose = [&](const Expression& load) {
    const Access& access = load.access();
    const hlo::ElementType type = context_.program.buffer(access.buffer).type;
    Vectors columns = LoadTransposed(access, StorageOf(access.buffer),
                                     hlo::ByteWidth(type), unrolled, *vector);
    for (llvm::Value*& column : columns) {
      column = arithmetic_.FromStorage(type, column);
    }
    transposed_[&load] = {unrolled.var, std::move(columns)};
  };
  loops::VisitTransposedLoads(context_.program, unrolled, *vector, transpose);
}

void FunctionEmitter::TransposeWords(const Loop& unrolled, const Loop& vector) {
  const size_t count = vector.body.size();
  if (count < 2 || CountWordCopies(vector.body, 0) != count) return;
  const loops::Statement& first = *vector.body[0].statement();
  const auto per_word = static_cast<int64_t>(count);
  const Access& from = first.value->access();
  const int64_t along = StrideOf(from, vector.var);
  if (StrideOf(from, unrolled.var) != per_word || along == per_word ||
      (along >= -1 && along <= 1) ||
      StrideOf(first.target, vector.var) != per_word ||
      IsWritten(vector.body, from.buffer)) {
    return;
  }
  transposed_words_[first.value.get()] = {
      unrolled.var, LoadTransposed(from, b_.getInt32Ty(), 4, unrolled, vector)};
}

Vectors FunctionEmitter::LoadTransposed(const Access& access,
                                        llvm::Type* element, int64_t bytes,
                                        const Loop& unrolled,
                                        const Loop& vector) {
  const loops::BufferId buffer = access.buffer;
  const int64_t length = unrolled.extent;
  const auto rounded =
      static_cast<unsigned>(std::bit_ceil(static_cast<uint64_t>(length)));
  auto* row_type = llvm::FixedVectorType::get(element, rounded);
  const llvm::Align align(static_cast<uint64_t>(
      hlo::ByteWidth(context_.program.buffer(buffer).type)));
  std::vector<llvm::Constant*> bits;
  for (int64_t i = 0; i < rounded; ++i) bits.push_back(b_.getInt1(i < length));
  variables_[unrolled.var] = {Int64(0), {0, 0}};
  Vectors rows;
  for (int64_t lane = 0; lane < vector.extent; ++lane) {
    variables_[vector.var] = {Int64(lane), {lane, lane}};
    const Address address = EmitAddress(access);
    rows.push_back(rounded == length
                       ? static_cast<llvm::Instruction*>(b_.CreateAlignedLoad(
                             row_type, address.pointer, align))
                       : b_.CreateMaskedLoad(row_type, address.pointer, align,
                                             llvm::ConstantVector::get(bits),
                                             llvm::PoisonValue::get(row_type)));
    Annotate(buffer, llvm::cast<llvm::Instruction>(rows.back()));
  }
  variables_.erase(vector.var);
  variables_.erase(unrolled.var);
  Vectors columns = TransposeBlock(b_, std::move(rows), bytes);
  columns.resize(static_cast<size_t>(length));
  for (llvm::Value*& column : columns) {
    column = First(b_, column, vector.extent);
  }
  return columns;
}

void FunctionEmitter::DeferStores(const Loop& unrolled) {
  if (deferred_.has_value() || !IsFull(unrolled)) return;
  Deferred deferred;
  deferred.unrolled = &unrolled;
  const Loop* inner = &unrolled;
  while (inner->body.size() == 1 && inner->body[0].loop() != nullptr) {
    inner = inner->body[0].loop();
    if (!IsFull(*inner)) return;
    if (inner->mode != LoopMode::kUnrolled) break;
    deferred.between.push_back(inner);
  }
  if (inner->mode != LoopMode::kVector ||
      LanesAtOnce(*inner) != inner->extent) {
    return;
  }
  deferred.vector = inner;
  deferred.statement =
      loops::TransposedStore(context_.program, unrolled, *inner);
  if (deferred.statement == nullptr) return;
  deferred_ = std::move(deferred);
}

void FunctionEmitter::DeferStore(llvm::Value* value) {
  std::vector<int64_t> at;
  for (const Loop* loop : deferred_->between) {
    at.push_back(variables_.at(loop->var).range.lo);
  }
  deferred_->values[at].push_back(value);
}

void FunctionEmitter::StoreDeferred(const Loop& unrolled) {
  if (!deferred_.has_value() || deferred_->unrolled != &unrolled) return;
  Deferred deferred = *std::move(deferred_);
  deferred_.reset();
  const Access& target = deferred.statement->target;
  const hlo::ElementType type = context_.program.buffer(target.buffer).type;
  const llvm::Align align(static_cast<uint64_t>(hlo::ByteWidth(type)));
  for (auto& [at, rows] : deferred.values) {
    for (llvm::Value*& row : rows) row = arithmetic_.ToStorage(type, row);
    const Vectors columns =
        TransposeBlock(b_, std::move(rows), hlo::ByteWidth(type));
    for (size_t k = 0; k < at.size(); ++k) {
      variables_[deferred.between[k]->var] = {Int64(at[k]), {at[k], at[k]}};
    }
    variables_[unrolled.var] = {Int64(0), {0, 0}};
    for (int64_t lane = 0; lane < deferred.vector->extent; ++lane) {
      variables_[deferred.vector->var] = {Int64(lane), {lane, lane}};
      Annotate(target.buffer, b_.CreateAlignedStore(
                                  First(b_, columns[static_cast<size_t>(lane)],
                                        unrolled.extent),
                                  EmitAddress(target).pointer, align));
    }
  }
  variables_.erase(unrolled.var);
  variables_.erase(deferred.vector->var);
  for (const Loop* loop : deferred.between) variables_.erase(loop->var);
}

}  // namespace hone::backends
