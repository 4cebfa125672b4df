#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "loops/lowering/kernel/families.h"
#include "loops/lowering/kernel/scalar.h"

// A sorting network, which is independent of the data: Batcher's merge exchange
// (Knuth, "The Art of Computer Programming", volume 3, 5.2.2, algorithm M),
// about n/4 · log²(n) compare-exchange steps. It is not stable by itself, so
// equal elements are ordered by their original positions.

namespace hone::loops {
namespace {

using hlo::ElementType;
using hlo::Opcode;

// The lines to sort, and the positions that are permuted with them.
struct Lines {
  hlo::InstructionId id = 0;
  size_t dimension = 0;
  int64_t size = 0;
  Indices at;  // of a line
  BufferId order = 0;
};

absl::StatusOr<ExpressionPtr> ComesFirst(KernelWriter& writer,
                                         const Lines& lines,
                                         const std::vector<ExpressionPtr>& a,
                                         const std::vector<ExpressionPtr>& b) {
  std::vector<ExpressionPtr> arguments;
  for (size_t i = 0; i < a.size(); ++i) {
    arguments.push_back(a[i]);
    arguments.push_back(b[i]);
  }
  const ValueGraph& graph = writer.graph();
  HONE_ASSIGN_OR_RETURN(
      const std::vector<ExpressionPtr> result,
      ApplyRegion(graph.module(), graph.computation()[lines.id].called()[0],
                  arguments));
  return result[0];
}

// Compares and exchanges the elements at `first` and `second` of every operand.
absl::Status WriteExchange(KernelWriter& writer, Nest& nest, const Lines& lines,
                           const Affine& first, const Affine& second) {
  const absl::Span<const ValueId> results = writer.graph().leaves(lines.id);
  // The accesses of the elements, and temporaries that hold them.
  std::vector<Access> a_at;
  std::vector<Access> b_at;
  std::vector<ExpressionPtr> a;
  std::vector<ExpressionPtr> b;
  const auto hold = [&](Access at, std::vector<Access>& places,
                        std::vector<ExpressionPtr>& values) {
    const ExpressionPtr element = writer.Load(at);
    const Access held{nest.Temporary("held", element->type()), {}};
    nest.Store(held, element);
    values.push_back(writer.Load(held));
    places.push_back(std::move(at));
  };
  for (ValueId result : results) {
    Indices at = lines.at;
    at[lines.dimension] = first;
    hold(writer.Target(nest, result, at), a_at, a);
    at[lines.dimension] = second;
    hold(writer.Target(nest, result, at), b_at, b);
  }
  HONE_ASSIGN_OR_RETURN(ExpressionPtr a_first, ComesFirst(writer, lines, a, b));
  HONE_ASSIGN_OR_RETURN(ExpressionPtr b_first, ComesFirst(writer, lines, b, a));
  hold({lines.order, {Index(first)}}, a_at, a);
  hold({lines.order, {Index(second)}}, b_at, b);
  // b precedes a, or they are equal and b came first.
  const auto logic = [](Opcode opcode, std::vector<ExpressionPtr> operands) {
    return Expression::Apply(opcode, ElementType::kPred, std::move(operands));
  };
  ExpressionPtr exchange = logic(
      Opcode::kOr,
      {std::move(b_first),
       logic(Opcode::kAnd, {logic(Opcode::kNot, {std::move(a_first)}),
                            Expression::Compare(hlo::ComparisonDirection::kLt,
                                                false, b.back(), a.back())})});
  const Access decision{nest.Temporary("exchange", ElementType::kPred), {}};
  nest.Store(decision, std::move(exchange));
  const ExpressionPtr decided = writer.Load(decision);
  for (size_t i = 0; i < a.size(); ++i) {
    const ElementType type = a[i]->type();
    nest.Store(a_at[i],
               Expression::Apply(Opcode::kSelect, type, {decided, b[i], a[i]}));
    nest.Store(b_at[i],
               Expression::Apply(Opcode::kSelect, type, {decided, a[i], b[i]}));
  }
  return absl::OkStatus();
}

// Compares and exchanges i and i + distance for every i with i & p == r, if
// both are in the line; p is a power of two, r is 0 or p.
absl::Status WriteStep(KernelWriter& writer, Nest& nest, const Lines& lines,
                       int64_t p, int64_t r, int64_t distance) {
  const int64_t count = lines.size - distance - r;
  if (count <= 0) return absl::OkStatus();
  const size_t depth = nest.depth();
  const Affine run = nest.AddLoop((count + 2 * p - 1) / (2 * p)) * (2 * p);
  const Affine i = run + nest.AddBoundedLoop(p, Affine(count) - run) + r;
  HONE_RETURN_IF_ERROR(WriteExchange(writer, nest, lines, i, i + distance));
  nest.CloseTo(depth);
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteSort(KernelWriter& writer, Nest& nest,
                       hlo::InstructionId id) {
  const ValueGraph& graph = writer.graph();
  const absl::Span<const ValueId> results = graph.leaves(id);
  Lines lines;
  lines.id = id;
  lines.dimension =
      static_cast<size_t>(graph.computation()[id].dimensions()[0]);
  const hlo::DimensionVector& sizes = graph.dimensions(results[0]);
  lines.size = sizes[lines.dimension];
  for (size_t d = 0; d < sizes.size(); ++d) {
    lines.at.push_back(d == lines.dimension ? Index() : nest.AddLoop(sizes[d]));
  }
  const size_t depth = nest.depth();
  for (size_t k = 0; k < results.size(); ++k) {
    Indices at = lines.at;
    at[lines.dimension] = nest.AddLoop(lines.size);
    HONE_ASSIGN_OR_RETURN(ExpressionPtr element,
                          writer.Read(nest, graph.operands(id)[k], at));
    nest.Store(writer.Target(nest, results[k], at), std::move(element));
    nest.CloseTo(depth);
  }
  if (lines.size > 1) {
    lines.order = nest.Temporary("order", ElementType::kS32, {lines.size});
    const Affine i = nest.AddLoop(lines.size);
    nest.Store({lines.order, {Index(i)}},
               Expression::OfIndex(ElementType::kS32, i));
    nest.CloseTo(depth);
  }
  int64_t top = 1;
  while (2 * top < lines.size) top *= 2;
  for (int64_t p = lines.size > 1 ? top : 0; p > 0; p /= 2) {
    int64_t r = 0;
    int64_t distance = p;
    for (int64_t q = top;; q /= 2) {
      HONE_RETURN_IF_ERROR(WriteStep(writer, nest, lines, p, r, distance));
      if (q == p) break;
      distance = q - p;
      r = p;
    }
  }
  nest.CloseTo(0);
  return absl::OkStatus();
}

}  // namespace hone::loops
