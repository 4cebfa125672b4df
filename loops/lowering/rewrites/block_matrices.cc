#include "loops/lowering/rewrites/block_matrices.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"

#include "base/status_macros.h"
#include "hlo/rewrite/driver.h"
#include "hlo/rewrite/makers.h"
#include "loops/lowering/rewrites/loop_dot.h"
#include "loops/lowering/rewrites/loop_rows.h"

namespace hone::loops {
namespace {

using hlo::InstructionId;
using hlo::Opcode;
using hlo::Rewriter;

// The widest block, in bytes: two vectors of the widest processors.
constexpr int64_t kMostBlockBytes = 128;
constexpr int64_t kLeastBlockBytes = 64;
// A smaller matrix is in the second cache, and read in place as fast.
constexpr int64_t kLeastBytes = 512 << 10;
// The fewest products that are worth rearranging a matrix, which takes about as
// long as one of a few rows.
constexpr int64_t kFewestProducts = 4;
constexpr int64_t kFewestRows = 2;
constexpr int64_t kMostRows = 64;

// A matrix and which of its dimensions is contracted.
using Matrix = std::pair<InstructionId, int64_t>;

// Returns the columns of a block, as many as divide those of the matrix; 0 if
// none do.
int64_t BlockOf(const Rewriter& r, const Matrix& matrix) {
  const hlo::Shape& shape = r.shape(matrix.first);
  const int64_t width = hlo::ByteWidth(shape.element_type());
  const int64_t columns =
      shape.dimensions()[static_cast<size_t>(1 - matrix.second)];
  for (int64_t bytes = kMostBlockBytes; bytes >= kLeastBlockBytes; bytes /= 2) {
    const int64_t block = bytes / width;
    if (columns % block == 0 && columns > block) return block;
  }
  return 0;
}

// Returns w[k,n] or w[n,k], `matrix`, as b[n/block,k,block].
InstructionId MakeBlocks(Rewriter& r, const Matrix& matrix,
                         InstructionId operand, int64_t block) {
  const hlo::DimensionVector sizes = r.dimensions_of(operand);
  if (matrix.second == 0) {
    const InstructionId split =
        MakeReshape(r, operand, {sizes[0], sizes[1] / block, block});
    return MakeTranspose(r, split, {1, 0, 2});
  }
  const InstructionId split =
      MakeReshape(r, operand, {sizes[0] / block, block, sizes[1]});
  return MakeTranspose(r, split, {0, 2, 1});
}

// Returns `matrix` as a view of its blocks.
InstructionId MakeView(Rewriter& r, const Matrix& matrix,
                       InstructionId blocks) {
  const hlo::DimensionVector sizes = r.dimensions_of(matrix.first);
  const InstructionId split = matrix.second == 0
                                  ? MakeTranspose(r, blocks, {1, 0, 2})
                                  : MakeTranspose(r, blocks, {0, 2, 1});
  return MakeReshape(r, split, sizes);
}

bool IsView(const Rewriter& r, InstructionId id) {
  return r.Is(id, Opcode::kReshape) &&
         r.Is(r.operand(id, 0), Opcode::kTranspose);
}

// The dots of a computation that would rather read blocks of their right
// operand, by this operand.
absl::btree_map<Matrix, std::vector<InstructionId>> FindProducts(
    const Rewriter& r) {
  absl::btree_map<Matrix, std::vector<InstructionId>> products;
  for (InstructionId id : DotsIn(r)) {
    const InstructionId right = r.operand(id, 1);
    const hlo::Shape& shape = r.shape(right);
    const hlo::DimensionVector& along = Contracting(r[id], 1);
    if (HasBatch(r[id]) || shape.rank() != 2 || along.size() != 1 ||
        shape.byte_size() < kLeastBytes || IsView(r, right) ||
        hlo::ByteWidth(shape.element_type()) < 4 ||
        shape.element_type() != r.shape(id).element_type()) {
      continue;
    }
    const int64_t rows =
        r.shape(r.operand(id, 0)).num_elements() / SumsOf(r, id);
    const Matrix matrix = {right, along[0]};
    if (rows >= kFewestRows && rows <= kMostRows && BlockOf(r, matrix) > 0) {
      products[matrix].push_back(id);
    }
  }
  return products;
}

void BlockInvariants(hlo::LoopRewriter& loop, LoopRows& rows) {
  if (rows.trip_count() < kFewestProducts) return;
  Rewriter& body = loop.body();
  absl::btree_map<Matrix, std::vector<InstructionId>> products =
      FindProducts(body);
  absl::erase_if(products, [&](const auto& entry) {
    return !rows.IsInvariant(entry.first.first);
  });
  hlo::InstructionIds blocks;
  for (const auto& [matrix, dots] : products) {
    blocks.push_back(MakeBlocks(loop.outside(), matrix,
                                rows.CopyOutside(matrix.first),
                                BlockOf(body, matrix)));
  }
  const hlo::InstructionIds reads = loop.AddElements(blocks);
  size_t number = 0;
  for (const auto& [matrix, dots] : products) {
    const InstructionId view = MakeView(body, matrix, reads[number++]);
    for (InstructionId dot : dots) body.SetOperand(dot, 1, view);
  }
}

void BlockShared(Rewriter& r) {
  for (const auto& [matrix, dots] : FindProducts(r)) {
    if (static_cast<int64_t>(dots.size()) < kFewestProducts) continue;
    const InstructionId blocks =
        MakeBlocks(r, matrix, matrix.first, BlockOf(r, matrix));
    // A conversion, even to the same type, is an array of its own: dots read
    // what is only rearranged where it was before.
    hlo::Instruction copy(Opcode::kConvert, r[blocks].shape_ptr(), {blocks});
    const InstructionId view = MakeView(r, matrix, r.Add(std::move(copy)));
    for (InstructionId dot : dots) r.SetOperand(dot, 1, view);
    r.EndRewrite();
  }
}

}  // namespace

absl::Status BlockMatrices(hlo::Module& module) {
  HONE_RETURN_IF_ERROR(
      RewriteLoopsWithDots(module, "block_matrices", BlockInvariants));
  const hlo::RewriteRule rule = {.name = "block_matrices",
                                 .opcodes = {Opcode::kDot}};
  return RewriteComputations(module, rule, {}, BlockShared).status();
}

}  // namespace hone::loops
