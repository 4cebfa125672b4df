#include "loops/lowering/kernel/arg_reduce.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/status_macros.h"
#include "loops/lowering/kernel/arg_region.h"
#include "loops/lowering/kernel/scalar.h"

namespace hone::loops {
namespace {

using hlo::ComparisonDirection;
using hlo::DimensionVector;
using hlo::ElementType;
using hlo::Opcode;

// The elements among which an extremum is searched for once it is known.
constexpr int64_t kBlock = 1024;
constexpr int64_t kMinBlocks = 4;
// Neighboring lines that are reduced together.
constexpr int64_t kColumns = 512;
constexpr int64_t kMinColumns = 8;
// Shorter rows are joined with the dimensions around them.
constexpr int64_t kShortRow = 128;

// Returns true if `init` is the constant that the extremum of no elements is.
bool IsIdentity(const ValueGraph& graph, ValueId init, bool is_max) {
  const hlo::Literal* const literal = UniformConstant(graph, init);
  if (literal == nullptr) return false;
  const ElementType type = graph.type(init);
  const ExpressionPtr identity =
      IdentityOf(is_max ? Opcode::kMaximum : Opcode::kMinimum, type);
  return hlo::IsFloat(type) ? literal->AsDouble(0) == identity->number()
                            : literal->AsInt(0) == identity->integer();
}

ExpressionPtr Compared(ComparisonDirection direction, ExpressionPtr a,
                       ExpressionPtr b) {
  return Expression::Compare(direction, /*total_order=*/false, std::move(a),
                             std::move(b));
}

ExpressionPtr Either(ExpressionPtr a, ExpressionPtr b) {
  return Expression::Apply(Opcode::kOr, ElementType::kPred,
                           {std::move(a), std::move(b)});
}

ExpressionPtr Chosen(ExpressionPtr condition, ExpressionPtr a,
                     ExpressionPtr b) {
  const ElementType type = a->type();
  return Expression::Apply(Opcode::kSelect, type,
                           {std::move(condition), std::move(a), std::move(b)});
}

class ArgReduceWriter {
 public:
  ArgReduceWriter(KernelWriter& writer, Nest& nest, hlo::InstructionId id,
                  const ArgReduce& reduce)
      : writer_(writer),
        graph_(writer.graph()),
        nest_(nest),
        reduce_(reduce),
        value_(graph_.leaves(id)[0]),
        index_(graph_.leaves(id)[1]),
        operand_(graph_.operands(id)[0]),
        sizes_(graph_.dimensions(operand_)),
        size_(sizes_[reduce.dimension]),
        type_(graph_.type(value_)),
        index_type_(graph_.type(index_)),
        opcode_(reduce.is_max ? Opcode::kMaximum : Opcode::kMinimum) {}

  absl::Status Run() {
    // The innermost dimension is contiguous.
    last_ = sizes_.size() - 1;
    while (last_ > 0 && sizes_[last_] == 1) --last_;
    if (last_ == reduce_.dimension) return WriteLines();
    size_t first = last_;
    int64_t size = sizes_[last_];
    if (size < kShortRow && writer_.fusion().IsStored(operand_)) {
      while (first > reduce_.dimension + 1) size *= sizes_[--first];
    }
    joins_columns_ = first < last_;
    if (size < kMinColumns) return WriteLines();
    const int64_t columns = std::min(size, kColumns);
    const int64_t rest = size % columns;
    HONE_RETURN_IF_ERROR(WriteColumns(first, 0, size / columns, columns));
    return rest == 0 ? absl::OkStatus()
                     : WriteColumns(first, size - rest, 1, rest);
  }

 private:
  // Returns the index of a result from that of an element.
  Indices Kept(Indices at) const {
    at.erase(at.begin() + static_cast<std::ptrdiff_t>(reduce_.dimension));
    return at;
  }

  absl::StatusOr<ExpressionPtr> Read(Indices at, const Index& index) {
    at[reduce_.dimension] = index;
    return writer_.Read(nest_, operand_, at);
  }

  ExpressionPtr IsNan(const ExpressionPtr& value) const {
    return Compared(ComparisonDirection::kNe, value, value);
  }

  // Returns true where `value` is the extremum of its line, or NaN: then the
  // extremum is, too.
  ExpressionPtr IsBest(const ExpressionPtr& value,
                       const ExpressionPtr& best) const {
    ExpressionPtr is_equal = Compared(ComparisonDirection::kEq, value, best);
    if (!hlo::IsFloat(type_)) return is_equal;
    return Either(std::move(is_equal), IsNan(value));
  }

  // Writes the extremum of `count` elements to `target`.
  absl::Status WriteBest(
      const Access& target, int64_t count,
      absl::FunctionRef<absl::StatusOr<ExpressionPtr>(const Affine&)> element) {
    nest_.Store(target, IdentityOf(opcode_, type_));
    const size_t depth = nest_.depth();
    const Affine i = nest_.AddLoop(count);
    HONE_ASSIGN_OR_RETURN(ExpressionPtr value, element(i));
    nest_.Store(target, std::move(value), opcode_);
    nest_.CloseTo(depth);
    return absl::OkStatus();
  }

  // Writes the number of the first of `count` elements that is `best` to
  // `target`; the last if there is none.
  absl::Status WriteFirst(
      const Access& target, int64_t count, const ExpressionPtr& best,
      absl::FunctionRef<absl::StatusOr<ExpressionPtr>(const Affine&)> element) {
    const ExpressionPtr last = Expression::ConstantInt(index_type_, count - 1);
    nest_.Store(target, last);
    const size_t depth = nest_.depth();
    const Affine i = nest_.AddLoop(count);
    HONE_ASSIGN_OR_RETURN(ExpressionPtr value, element(i));
    nest_.Store(target, Chosen(IsBest(value, best), IndexValue(i), last),
                Opcode::kMinimum);
    nest_.CloseTo(depth);
    return absl::OkStatus();
  }

  ExpressionPtr IndexValue(const Affine& i) const {
    return i.IsConstant() ? Expression::ConstantInt(index_type_, i.constant())
                          : Expression::OfIndex(index_type_, i);
  }

  absl::Status WriteLines() {
    Indices line(sizes_.size());
    for (size_t d = 0; d < sizes_.size(); ++d) {
      if (d != reduce_.dimension) line[d] = nest_.AddLoop(sizes_[d]);
    }
    const size_t depth = nest_.depth();
    // Computed elements are kept: computing them again may round differently.
    std::optional<BufferId> row;
    if (!writer_.fusion().IsStored(operand_)) {
      row = nest_.Temporary("row", type_, {size_});
      const Affine i = nest_.AddLoop(size_);
      HONE_ASSIGN_OR_RETURN(ExpressionPtr element, Read(line, i));
      nest_.Store({*row, {Index(i)}}, std::move(element));
      nest_.CloseTo(depth);
    }
    const auto element = [&](const Index& i) -> absl::StatusOr<ExpressionPtr> {
      if (row.has_value()) return writer_.Load({*row, {i}});
      return Read(line, i);
    };
    const Access best = writer_.Target(nest_, value_, Kept(line));
    const Access result = writer_.Target(nest_, index_, Kept(line));
    if (size_ < kMinBlocks * kBlock) {
      HONE_RETURN_IF_ERROR(WriteBest(best, size_, element));
      HONE_RETURN_IF_ERROR(
          WriteFirst(result, size_, writer_.Load(best), element));
      nest_.CloseTo(0);
      return absl::OkStatus();
    }

    const int64_t blocks = size_ / kBlock;
    const int64_t rest = size_ % kBlock;
    const int64_t count = blocks + (rest > 0 ? 1 : 0);
    const BufferId bests = nest_.Temporary("bests", type_, {count});
    const Affine block = nest_.AddLoop(blocks);
    HONE_RETURN_IF_ERROR(WriteBest(
        {bests, {Index(block)}}, kBlock,
        [&](const Affine& i) { return element(block * kBlock + i); }));
    nest_.CloseTo(depth);
    if (rest > 0) {
      HONE_RETURN_IF_ERROR(WriteBest(
          {bests, {Index(blocks)}}, rest,
          [&](const Affine& i) { return element(i + blocks * kBlock); }));
    }
    const auto best_of = [&](const Affine& i) -> absl::StatusOr<ExpressionPtr> {
      return writer_.Load({bests, {Index(i)}});
    };
    HONE_RETURN_IF_ERROR(WriteBest(best, count, best_of));
    const Access start{nest_.Temporary("start", index_type_), {}};
    HONE_RETURN_IF_ERROR(WriteFirst(start, count, writer_.Load(best), best_of));
    // The last block overlaps the one before, which does not have it.
    nest_.Store(
        start,
        Expression::Apply(
            Opcode::kMinimum, index_type_,
            {Expression::Apply(Opcode::kMultiply, index_type_,
                               {writer_.Load(start),
                                Expression::ConstantInt(index_type_, kBlock)}),
             Expression::ConstantInt(index_type_, size_ - kBlock)}));
    HONE_RETURN_IF_ERROR(
        WriteFirst(result, kBlock, writer_.Load(best), [&](const Affine& i) {
          return element(
              Index(i, Converted(ElementType::kS64, writer_.Load(start))));
        }));
    nest_.Store(result,
                Expression::Apply(Opcode::kAdd, index_type_,
                                  {writer_.Load(result), writer_.Load(start)}));
    nest_.CloseTo(0);
    return absl::OkStatus();
  }

  // Returns the access to the element at `at` of an array of `sizes`, by its
  // number, which is affine where several dimensions are one loop.
  static Access Numbered(BufferId buffer, const DimensionVector& sizes,
                         const Indices& at) {
    return {buffer, {Flatten(sizes, at)}};
  }

  // Reads the element at `at`, where the last index may run over several
  // dimensions.
  absl::StatusOr<ExpressionPtr> ReadColumn(Indices at, const Affine& row) {
    if (!joins_columns_) return Read(at, row);
    at[reduce_.dimension] = row;
    HONE_ASSIGN_OR_RETURN(const BufferId buffer,
                          writer_.BufferToRead(graph_.Source(operand_)));
    return writer_.Load(Numbered(buffer, sizes_, at));
  }

  Access ColumnTarget(ValueId value, const Indices& at) {
    if (!joins_columns_) return writer_.Target(nest_, value, Kept(at));
    return Numbered(writer_.BufferToWrite(value), graph_.dimensions(value),
                    Kept(at));
  }

  // Reduces `tiles` times `columns` lines, from `begin` on, which are
  // contiguous in the dimensions from `first` on.
  absl::Status WriteColumns(size_t first, int64_t begin, int64_t tiles,
                            int64_t columns) {
    if (tiles == 0) return absl::OkStatus();
    Indices at(sizes_.size());
    for (size_t d = 0; d < first; ++d) {
      if (d != reduce_.dimension) at[d] = nest_.AddLoop(sizes_[d]);
    }
    const Affine tile = nest_.AddLoop(tiles) * columns + begin;
    const size_t depth = nest_.depth();
    const BufferId best = nest_.Temporary("best", type_, {columns});
    const BufferId index = nest_.Temporary("index", index_type_, {columns});
    Affine column = nest_.AddLoop(columns);
    nest_.Store({best, {Index(column)}}, IdentityOf(opcode_, type_));
    nest_.Store({index, {Index(column)}},
                Expression::ConstantInt(index_type_, 0));
    nest_.CloseTo(depth);

    const Affine row = nest_.AddLoop(size_);
    column = nest_.AddLoop(columns);
    at[last_] = tile + column;
    HONE_ASSIGN_OR_RETURN(const ExpressionPtr element, ReadColumn(at, row));
    const Access best_at{best, {Index(column)}};
    const Access index_at{index, {Index(column)}};
    const ExpressionPtr old = writer_.Load(best_at);
    ExpressionPtr is_better = Compared(
        reduce_.is_max ? ComparisonDirection::kGt : ComparisonDirection::kLt,
        element, old);
    if (hlo::IsFloat(type_)) {
      is_better = Either(
          std::move(is_better),
          Expression::Apply(
              Opcode::kAnd, ElementType::kPred,
              {IsNan(element), Compared(ComparisonDirection::kEq, old, old)}));
    }
    nest_.Store(index_at,
                Chosen(is_better, IndexValue(row), writer_.Load(index_at)));
    nest_.Store(best_at, Expression::Apply(opcode_, type_, {old, element}));
    nest_.CloseTo(depth);

    column = nest_.AddLoop(columns);
    at[last_] = tile + column;
    nest_.Store(ColumnTarget(value_, at),
                writer_.Load({best, {Index(column)}}));
    nest_.Store(ColumnTarget(index_, at),
                writer_.Load({index, {Index(column)}}));
    nest_.CloseTo(0);
    return absl::OkStatus();
  }

  KernelWriter& writer_;
  const ValueGraph& graph_;
  Nest& nest_;
  const ArgReduce reduce_;
  const ValueId value_;
  const ValueId index_;
  const ValueId operand_;
  const DimensionVector& sizes_;
  const int64_t size_;
  const ElementType type_;
  const ElementType index_type_;
  const Opcode opcode_;
  // The innermost dimension of more than one element.
  size_t last_ = 0;
  // Columns are those of several dimensions.
  bool joins_columns_ = false;
};

}  // namespace

std::optional<ArgReduce> AsArgReduce(const ValueGraph& graph,
                                     hlo::InstructionId id) {
  const hlo::Instruction& instruction = graph.computation()[id];
  const std::vector<ValueId>& operands = graph.operands(id);
  if (operands.size() != 4 || instruction.dimensions().size() != 1) {
    return std::nullopt;
  }
  const int64_t dimension = instruction.dimensions()[0];
  const int64_t size =
      graph.dimensions(operands[0])[static_cast<size_t>(dimension)];
  const ElementType type = graph.type(operands[0]);
  const ElementType index = graph.type(operands[1]);
  if (size == 0 || (!hlo::IsFloat(type) && !hlo::IsIntegral(type)) ||
      (index != ElementType::kS32 && index != ElementType::kS64) ||
      size > std::numeric_limits<int32_t>::max() ||
      !NumbersElements(graph, operands[1], dimension)) {
    return std::nullopt;
  }
  const std::optional<bool> is_max =
      KeepsFirstExtremum(graph.module().computation(instruction.called()[0]));
  const hlo::Literal* const start = UniformConstant(graph, operands[3]);
  if (!is_max.has_value() || !IsIdentity(graph, operands[2], *is_max) ||
      start == nullptr || start->AsInt(0) != 0) {
    return std::nullopt;
  }
  return ArgReduce{static_cast<size_t>(dimension), *is_max};
}

absl::Status WriteArgReduce(KernelWriter& writer, Nest& nest,
                            hlo::InstructionId id, const ArgReduce& reduce) {
  return ArgReduceWriter(writer, nest, id, reduce).Run();
}

}  // namespace hone::loops
