#include "loops/schedules/row_sums.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"

#include "loops/ir/code_limits.h"
#include "loops/ir/rewrite.h"
#include "loops/schedules/interleaved_panels.h"
#include "loops/schedules/loop_chain.h"
#include "loops/schedules/nest.h"
#include "loops/schedules/peel_bounds.h"
#include "loops/schedules/vectorize_innermost.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"

namespace hone::loops {
namespace {

constexpr int64_t kRowsAtOnce = 4;
// Vectors of partial results of a row: together with those of other rows, they
// hide the latency of an addition.
constexpr int64_t kVectors = 2;

// The fewest vectors per row for which pairs pay off.
constexpr int64_t kLongDot = 8;

// The products that an instruction adds up in each lane.
constexpr int64_t kPair = 2;

// A nest with the first value of a result, the combining of a row into it, and
// what is done with it (none or more statements), in the innermost of a chain
// of loops.
struct RowSums {
  VarId row = 0;
  VarId column = 0;
  int64_t width = 4;  // of the widest element, in bytes
};

bool IsApplied(const Expression& e, hlo::Opcode opcode) {
  return e.kind() == Expression::Kind::kApply && e.opcode() == opcode;
}

// Returns true for what combine_steps makes of the products of two steps.
bool IsSumOfProducts(const Expression& e) {
  return IsApplied(e, hlo::Opcode::kAdd) &&
         absl::c_all_of(e.operands(), [](const ExpressionPtr& operand) {
           return IsApplied(*operand, hlo::Opcode::kMultiply);
         });
}

std::optional<RowSums> AsRowSums(const Program& program,
                                 const LoopChain& chain) {
  const std::vector<const Loop*> loops = chain.Loops();
  const std::vector<Node>& body = loops.back()->body;
  if (body.size() < 2 || body[0].statement() == nullptr ||
      body[1].loop() == nullptr || body[1].loop()->body.size() != 1 ||
      body[1].loop()->body[0].statement() == nullptr ||
      std::any_of(body.begin() + 2, body.end(),
                  [](const Node& node) { return node.loop() != nullptr; })) {
    return std::nullopt;
  }
  RowSums sums;
  sums.row = loops.back()->var;
  const Loop& along = *body[1].loop();
  sums.column = along.var;
  const Statement& statement = *along.body[0].statement();
  bool fits = statement.combine.has_value() &&
              StrideOf(program, statement.target, sums.column) == 0 &&
              StrideOf(program, statement.target, sums.row) != 0;
  const bool combines_pairs = IsSumOfProducts(*statement.value);
  bool moves = false;
  VisitAccesses(statement, [&](const Access& access, bool is_target) {
    const auto stride = StrideOf(program, access, sums.column);
    const bool is_dense = stride == 1 || (stride == kPair && combines_pairs);
    fits = fits && (is_target || stride == 0 || is_dense);
    moves = moves || (is_dense && StrideOf(program, access, sums.row) != 0);
    sums.width = std::max(sums.width,
                          hlo::ByteWidth(program.buffer(access.buffer).type));
  });
  if (!fits || !moves) return std::nullopt;
  return sums;
}

// Unrolls the loop at `path`, and those of a perfect nest in it.
bool UnrollNest(Scheduler& s, Path path) {
  while (s.program().At(path).loop() != nullptr) {
    if (!s.Try("unroll", path)) return false;
    if (OnlyChildLoop(*s.program().At(path).loop()) == nullptr) break;
    path.push_back(0);
  }
  return true;
}

// Computes several rows at once: those of the chain's last two loops, the outer
// one of which is that of `few`, or some of the last one's.
bool Tile(Scheduler& s, LoopChain chain, const RowSums& sums,
          std::optional<VarId> few) {
  const bool has_epilogue = chain.Loops().back()->body.size() > 2;
  const int64_t lanes =
      std::max<int64_t>(s.machine().vector_bytes / sums.width, 2);
  VarId tiles = chain.Loops().back()->var;
  VarId row = tiles;
  if (!few.has_value()) {
    const int64_t rows = s.Choose(Choice::kRowsAtOnce, kRowsAtOnce);
    if (chain.LoopOf(row).extent > rows &&
        !chain.Split(sums.row, rows, tiles, row)) {
      return false;
    }
  }
  // First values, sums and the rest, each for the rows of a tile.
  LoopChain first(s, chain.PathOf(few.value_or(row)));
  if (!first.SplitOffFirst()) return false;
  LoopChain rest(s, Sibling(first.top(), 1));
  if (has_epilogue && !rest.SplitOffFirst()) return false;
  // The columns around the rows, in vectors.
  const int64_t vectors =
      few.has_value() ? 1 : s.Choose(Choice::kRowVectors, kVectors);
  int64_t step = lanes * vectors;
  if (rest.LoopOf(sums.column).extent < 2 * step) step = lanes;
  VarId steps = 0;
  VarId column = 0;
  if (!rest.Split(sums.column, step, steps, column)) return false;
  std::vector<VarId> order = {steps, row, column};
  if (few.has_value()) order.insert(order.begin() + 1, *few);
  if (!rest.MoveOut(order)) return false;
  Path vector = rest.PathOf(column);
  if (step > lanes) {
    if (!s.Try("split", vector, {lanes}) || !s.Try("unroll", vector)) {
      return false;
    }
    vector.push_back(0);
  }
  if (!s.Try("vectorize", vector) || !s.Try("unroll", rest.PathOf(row)) ||
      (few.has_value() && !s.Try("unroll", rest.PathOf(*few)))) {
    return false;
  }
  if (has_epilogue) UnrollNest(s, Sibling(rest.top(), 1));
  return UnrollNest(s, first.top());
}

// Vectors of products that are added per cycle, with the loads of both factors,
// and cycles to combine the lanes of a dot product and to copy an element of a
// narrow matrix to its transpose, whose vectors are mostly idle: fitted to
// measured times of a processor with two multiply-adds per cycle.
constexpr double kNarrowSumsPerCycle = 1.6;
constexpr double kCyclesPerDot = 6;
constexpr double kCyclesPerNarrowCopy = 1;

// Returns true if dot products along the sum, whose lanes are combined at the
// end, take less time than vectors of `few` results. Either needs one operand
// transposed, once for `many` rows: the second if the few are contiguous along
// the sum, the first otherwise.
bool IsWorthCombiningLanes(double steps, double few, double many, double lanes,
                           bool is_contiguous) {
  const double transposing = kCyclesPerNarrowCopy * steps / many;
  return steps / (kNarrowSumsPerCycle * lanes) + kCyclesPerDot +
             (is_contiguous ? -transposing : transposing) <
         steps / (kNarrowSumsPerCycle * few);
}

// The loops of a matrix product with few rows or columns: the few, and the
// many others.
struct FewDots {
  VarId few = 0;
  VarId many = 0;
  std::vector<VarId> batches;
  // The factor that moves with the few, if it is not contiguous along the sum.
  std::optional<BufferId> transposed;
  // True if an instruction takes two adjacent elements of each operand.
  bool has_pairs = false;
};

// Returns true if elements of this type are converted to those of the sum on
// the way, in a vector.
bool IsWidened(hlo::ElementType type, hlo::ElementType sum) {
  return sum == hlo::ElementType::kF32 &&
         (type == hlo::ElementType::kBf16 || type == hlo::ElementType::kF16);
}

std::optional<FewDots> AsFewDots(const Scheduler& s, const LoopChain& chain) {
  const std::vector<const Loop*> loops = chain.Loops();
  const std::vector<Node>& body = loops.back()->body;
  if (body.size() < 2 || body[1].loop() == nullptr ||
      body[1].loop()->body.size() != 1 ||
      body[1].loop()->body[0].statement() == nullptr) {
    return std::nullopt;
  }
  const Path sum = Child(chain.AtDepth(loops.size() - 1), 1);
  const auto product = AsContraction(s.program(), Child(sum, 0));
  if (!product.has_value() || product->rows.size() != 1 ||
      product->columns.size() != 1 ||
      product->sums != std::vector<VarId>{body[1].loop()->var}) {
    return std::nullopt;
  }
  const auto type_of = [&](const Access& access) {
    return s.program().buffer(access.buffer).type;
  };
  const hlo::ElementType type =
      type_of(s.program().At(Child(sum, 0)).statement()->target);
  for (const Access* factor : {product->a, product->b}) {
    if (hlo::ByteWidth(type) < 4 ||
        (type_of(*factor) != type && !IsWidened(type_of(*factor), type))) {
      return std::nullopt;
    }
  }
  FewDots dots = {product->rows[0], product->columns[0], product->batches, {}};
  dots.has_pairs = body[1].loop()->extent % kPair == 0 && hlo::IsFloat(type) &&
                   ProductsAtOnce(s.program(), s.machine(), *product) == kPair;
  const Access* of_few = product->a;
  const Access* of_many = product->b;
  const auto extent = [&](VarId var) { return chain.LoopOf(var).extent; };
  if (extent(dots.few) > extent(dots.many)) {
    std::swap(dots.few, dots.many);
    std::swap(of_few, of_many);
  }
  const auto is_contiguous = [&](const Access& factor) {
    return StrideOf(s.program(), factor, product->sums[0]) == 1;
  };
  const int64_t lanes =
      std::max<int64_t>(s.machine().vector_bytes / hlo::ByteWidth(type), 2);
  // Other vectors of pairs need panels of both factors.
  const auto steps = static_cast<double>(body[1].loop()->extent);
  if (!is_contiguous(*of_many) || extent(dots.many) <= kRowsAtOnce ||
      extent(dots.few) > (dots.has_pairs ? lanes : lanes / 2) ||
      2 * extent(dots.few) > kMostPartialResults ||
      (dots.has_pairs
           ? body[1].loop()->extent < kLongDot * lanes
           : !IsWorthCombiningLanes(
                 steps, static_cast<double>(extent(dots.few)),
                 static_cast<double>(extent(dots.many)),
                 static_cast<double>(lanes), is_contiguous(*of_few)))) {
    return std::nullopt;
  }
  if (!is_contiguous(*of_few)) {
    if (of_few->buffer == of_many->buffer) return std::nullopt;
    dots.transposed = of_few->buffer;
  }
  return dots;
}

// Schedules a reduction along rows; `few` is as in Tile.
bool ScheduleRows(Scheduler& s, const Path& path, std::optional<VarId> few) {
  const LoopChain chain(s, path);
  const std::optional<RowSums> sums = AsRowSums(s.program(), chain);
  if (!sums.has_value() ||
      (!few.has_value() && chain.LoopOf(sums->row).extent < kRowsAtOnce)) {
    return false;
  }
  const Scheduler::Checkpoint mark = s.Save();
  if (!Tile(s, chain, *sums, few)) {
    s.Restore(mark);
    return false;
  }
  const auto siblings = [&] {
    return BodyAt(s.program(), Parent(path)).size();
  };
  const size_t others = siblings() - 1;
  PeelBounds(s, path);
  for (size_t i = siblings() - others; i-- > 0;) {
    const Path part = Sibling(path, static_cast<int32_t>(i));
    ComputeWholeVectors(s, part);
    ParallelizeNest(s, part);
  }
  return true;
}

// Makes two steps of the sum in the innermost loop of `chain` one.
bool CombinePairs(Scheduler& s, const LoopChain& chain) {
  const Path sum = Child(chain.AtDepth(chain.Loops().size() - 1), 1);
  return s.Try("split", sum, {kPair}) && s.Try("combine_steps", Child(sum, 0));
}

// Copies what the nest of the chain reads of `matrix`, in the order of its
// loops, in front of it; the chain is the nest's then.
bool Transpose(Scheduler& s, BufferId matrix, LoopChain& chain) {
  const Path path = chain.top();
  const auto nests = [&] { return BodyAt(s.program(), Parent(path)).size(); };
  if (!s.Try("pack", path, {matrix, 2})) return false;
  const size_t others = nests() - 1;
  VectorizeInnermost(s, path);
  const size_t copies = nests() - others;
  for (size_t i = 0; i < copies; ++i) {
    ParallelizeNest(s, Sibling(path, static_cast<int32_t>(i)));
  }
  chain.set_top(Sibling(path, static_cast<int32_t>(copies)));
  return true;
}

}  // namespace

bool ScheduleFewDots(Scheduler& s, const Path& path) {
  LoopChain chain(s, path);
  const std::optional<FewDots> dots = AsFewDots(s, chain);
  if (!dots.has_value()) return false;
  const Scheduler::Checkpoint mark = s.Save();
  // Registers hold a sum for each of the few and each row, elements of the few,
  // and some of a row.
  const int64_t few = chain.LoopOf(dots->few).extent;
  const int64_t rows = s.Choose(
      Choice::kRowsAtOnce,
      std::clamp<int64_t>(std::min(s.machine().vector_registers - few - 2,
                                   kMostPartialResults) /
                              few,
                          2, kRowsAtOnce));
  VarId tiles = 0;
  VarId row = 0;
  std::vector<VarId> order = dots->batches;
  if (chain.Split(dots->many, rows, tiles, row)) {
    order.insert(order.end(), {tiles, dots->few, row});
    if (chain.MoveOut(order) &&
        (!dots->transposed.has_value() ||
         Transpose(s, *dots->transposed, chain)) &&
        (!dots->has_pairs || CombinePairs(s, chain)) &&
        ScheduleRows(s, chain.top(), dots->few)) {
      return true;
    }
  }
  s.Restore(mark);
  return false;
}

bool ScheduleRowSums(Scheduler& s, const Path& path) {
  return ScheduleRows(s, path, std::nullopt);
}

}  // namespace hone::loops
