#include "loops/lowering/rewrites/hoist_dots.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"

#include "hlo/rewrite/dead_code.h"
#include "hlo/rewrite/makers.h"
#include "loops/lowering/rewrites/loop_dot.h"
#include "loops/lowering/rewrites/loop_rows.h"

namespace hone::loops {
namespace {

using hlo::InstructionId;
using hlo::Opcode;
using hlo::Rewriter;

// A smaller matrix stays in the second cache of many processors between
// iterations.
constexpr int64_t kLeastBytes = 512 << 10;
// The largest array of products that a loop reads instead of computing them.
constexpr int64_t kMostBytes = int64_t{64} << 20;

// A dot of which operand `side` is a row.
struct RowDot {
  InstructionId dot = hlo::kNoInstruction;
  size_t side = 0;
  LoopRow row;
};

class DotHoister {
 public:
  DotHoister(hlo::LoopRewriter& loop, LoopRows& rows)
      : loop_(loop), rows_(rows) {}

  void Run() {
    for (InstructionId id : DotsIn(loop_.body())) SplitConcatenation(id);
    RemoveDeadInstructions(loop_.body());
    std::vector<RowDot> dots;
    for (InstructionId id : DotsIn(loop_.body())) {
      if (const auto dot = AsRowDot(id)) dots.push_back(*dot);
    }
    hlo::InstructionIds products;
    for (const RowDot& dot : dots) products.push_back(MakeProducts(dot));
    const hlo::InstructionIds reads = loop_.AddElements(products);
    for (size_t i = 0; i < dots.size(); ++i) Replace(dots[i], reads[i]);
  }

 private:
  // Returns true if computing the products of a row and operand 1-side of `dot`
  // in front of the loop pays off; `sums` is the number of products that make
  // an element.
  bool PaysOff(InstructionId dot, size_t side, InstructionId row,
               int64_t sums) const {
    const std::optional<LoopRow> read = rows_.Read(row);
    if (!read.has_value() || sums == 0 ||
        !rows_.IsInvariant(loop_.body().operand(dot, 1 - side))) {
      return false;
    }
    const hlo::Shape& array =
        *loop_.outside().shape(loop_.init()).tuple_element(read->element);
    const int64_t count = array.dimensions()[0];
    const int64_t few = loop_.body().shape(row).num_elements() / sums;
    const int64_t width =
        hlo::ByteWidth(loop_.body().shape(row).element_type());
    const int64_t columns = loop_.body().shape(dot).num_elements() / few;
    return AreFewRows(few, sums) && sums * columns * width >= kLeastBytes &&
           rows_.trip_count() * 2 >= count &&
           loop_.body().shape(dot).byte_size() <= kMostBytes / count;
  }

  std::optional<RowDot> AsRowDot(InstructionId id) const {
    const Rewriter& body = loop_.body();
    if (HasBatch(body[id])) return std::nullopt;
    for (size_t side : {size_t{0}, size_t{1}}) {
      const InstructionId row = body.operand(id, side);
      if (PaysOff(id, side, row, SumsOf(body, id))) {
        return RowDot{id, side, *rows_.Read(row)};
      }
    }
    return std::nullopt;
  }

  // dot(concatenate(a, b, …), w) → dot(a, w') + dot(concatenate(b, …), w'') if
  // the products of `a` can be computed in front of the loop.
  void SplitConcatenation(InstructionId dot) {
    Rewriter& body = loop_.body();
    if (HasBatch(body[dot]) || !MayReassociate(body.shape(dot))) return;
    for (size_t side : {size_t{0}, size_t{1}}) {
      const InstructionId whole = body.operand(dot, side);
      const hlo::DimensionVector& sums = Contracting(body[dot], side);
      if (!body.Is(whole, Opcode::kConcatenate) || sums.size() != 1 ||
          body[whole].dimensions()[0] != sums[0]) {
        continue;
      }
      const hlo::InstructionIds parts = body[whole].operands();
      // Adjacent parts that stay are one.
      std::vector<hlo::InstructionIds> groups;
      bool any = false;
      bool was_row = true;
      for (InstructionId part : parts) {
        const int64_t size =
            body.dimensions_of(part)[static_cast<size_t>(sums[0])];
        const bool is_row = PaysOff(dot, side, part, size);
        any = any || is_row;
        if (is_row || was_row) groups.emplace_back();
        groups.back().push_back(part);
        was_row = is_row;
      }
      if (!any || groups.size() < 2) continue;
      SplitDot(dot, side, groups);
      return;
    }
  }

  void SplitDot(InstructionId dot, size_t side,
                const std::vector<hlo::InstructionIds>& groups) {
    Rewriter& body = loop_.body();
    const int64_t along = Contracting(body[dot], side)[0];
    const int64_t other_along = Contracting(body[dot], 1 - side)[0];
    const InstructionId other = body.operand(dot, 1 - side);
    InstructionId sum = hlo::kNoInstruction;
    int64_t start = 0;
    for (const hlo::InstructionIds& group : groups) {
      const InstructionId part =
          group.size() == 1 ? group[0] : MakeConcatenate(body, group, along);
      const int64_t size = body.dimensions_of(part)[static_cast<size_t>(along)];
      hlo::InstructionIds operands(2, part);
      operands[1 - side] =
          SliceAlong(body, other, other_along, start, start + size);
      start += size;
      const InstructionId product = MakeLike(body, dot, operands);
      sum = sum == hlo::kNoInstruction
                ? product
                : MakeBinary(body, Opcode::kAdd, sum, product);
    }
    body.ReplaceUses(dot, sum);
  }

  // Computes the products of all rows in front of the loop.
  InstructionId MakeProducts(const RowDot& found) {
    const Rewriter& body = loop_.body();
    Rewriter& outside = loop_.outside();
    const InstructionId array = ElementOf(
        outside, loop_.init(), static_cast<size_t>(found.row.element));
    const InstructionId matrix =
        rows_.CopyOutside(body.operand(found.dot, 1 - found.side));
    hlo::DotDimensions dimensions;
    for (int64_t d : Contracting(body[found.dot], found.side)) {
      dimensions.lhs_contracting.push_back(d + 1);
    }
    dimensions.rhs_contracting = Contracting(body[found.dot], 1 - found.side);
    return AddDotLike(outside, body[found.dot], array, matrix, dimensions);
  }

  // Reads a row of `products`, an element of the body's state, instead.
  void Replace(const RowDot& found, InstructionId products) {
    Rewriter& body = loop_.body();
    InstructionId value = MakeReadOfRow(body, products, found.row.place);
    if (found.side == 1) {
      // The dimensions of the matrix come first.
      const auto rank = static_cast<int64_t>(body.dimensions_of(value).size());
      const auto rows = static_cast<int64_t>(
          body.dimensions_of(body.operand(found.dot, 1)).size() -
          Contracting(body[found.dot], 1).size());
      hlo::DimensionVector permutation;
      for (int64_t d = 0; d < rank; ++d) {
        permutation.push_back((d + rows) % rank);
      }
      value = MakeTranspose(body, value, permutation);
    }
    body.ReplaceUses(found.dot, value);
  }

  hlo::LoopRewriter& loop_;
  LoopRows& rows_;
};

}  // namespace

absl::Status HoistDots(hlo::Module& module) {
  return RewriteLoopsWithDots(module, "hoist_dots",
                              [](hlo::LoopRewriter& loop, LoopRows& rows) {
                                DotHoister(loop, rows).Run();
                              });
}

}  // namespace hone::loops
