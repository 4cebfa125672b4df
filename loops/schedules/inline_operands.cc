#include "loops/schedules/inline_operands.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"

#include "loops/ir/rewrite.h"
#include "loops/schedules/interleaved_panels.h"
#include "loops/schedules/loop_chain.h"
#include "loops/schedules/nest.h"
#include "loops/schedules/vectorize_innermost.h"
#include "loops/transforms/analysis/footprint.h"
#include "loops/transforms/analysis/iteration_count.h"
#include "loops/transforms/analysis/producer.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"

namespace hone::loops {
namespace {

// The parameter of set_memory, and what a thread's stack holds without thought.
constexpr int64_t kStack = 1;
constexpr int64_t kStackBytes = 64 << 10;
// Several copies have so many more elements than the operand at most: those of
// the last tiles.
constexpr double kMostCopied = 1.25;
// The most nodes of expressions that unrolled copies consist of.
constexpr int64_t kMostUnrolled = 512;

int64_t SizeOf(const Expression& e) {
  int64_t size = 1;
  for (const ExpressionPtr& operand : e.operands()) size += SizeOf(*operand);
  return size;
}

// An operand that a nest of its own computes, and who reads it.
struct Operand {
  BufferId buffer = 0;
  Path producer;
  std::vector<AccessSite> reads;
};

// Returns `buffer` as an operand if it is a local whose values one statement
// computes, at little cost but other than as a copy, in a nest that has no
// other statement and is in front of all that reads it.
std::optional<Operand> AsComputedOperand(const Program& program,
                                         BufferId buffer) {
  const absl::StatusOr<Producer> producer = ProducerOf(program, buffer);
  if (!producer.ok() || producer->path.size() < 2) return std::nullopt;
  const Expression& value = *program.At(producer->path).statement()->value;
  // Polynomials take longer than memory, and their constants need registers
  // that tiles have.
  if (value.kind() != Expression::Kind::kApply || HasPolynomials(value)) {
    return std::nullopt;
  }
  Operand operand = {buffer, producer->path, {}};
  const int32_t nest = operand.producer[0];
  const Loop* loop = program.At({nest}).loop();
  while (loop != nullptr && loop->body.size() == 1) {
    loop = loop->body[0].loop();
  }
  if (loop != nullptr) return std::nullopt;
  for (const AccessSite& site : SitesOf(program, {}, buffer)) {
    if (site.is_write) continue;
    if (site.path[0] <= nest) return std::nullopt;
    operand.reads.push_back(site);
  }
  return operand.reads.empty() ? std::nullopt : std::optional(operand);
}

// Returns true if everything that the operand is computed from is contiguous,
// or fixed, along the loop that it is contiguous along.
bool ReadsInOrder(const Program& program, const Operand& operand) {
  const Statement& statement = *program.At(operand.producer).statement();
  bool is_in_order = true;
  for (const Loop* loop : program.LoopsAbove(operand.producer)) {
    if (StrideOf(program, statement.target, loop->var) != 1) continue;
    VisitLoads(*statement.value, [&](const Access& source) {
      const auto stride = StrideOf(program, source, loop->var);
      is_in_order = is_in_order && (stride == 0 || stride == 1);
    });
  }
  return is_in_order;
}

// Returns true if the statement at the site copies an element of the operand.
bool IsCopy(const Program& program, const AccessSite& site) {
  const Statement& statement = *program.At(site.path).statement();
  const Expression& value = statement.value->kind() == Expression::Kind::kWhere
                                ? *statement.value->operands()[0]
                                : *statement.value;
  return !statement.combine.has_value() &&
         value.kind() == Expression::Kind::kLoad &&
         value.access().buffer == site.access.buffer &&
         program.buffer(statement.target.buffer).IsLocal();
}

// Returns how many statements the unrolled loops make of the one at `path`.
int64_t UnrolledCopies(const Program& program, const Path& path) {
  int64_t copies = 1;
  for (const Loop* loop : program.LoopsAbove(path)) {
    if (loop->mode == LoopMode::kUnrolled) copies *= loop->extent;
  }
  return copies;
}

// Returns true if the copies of the operand have each element once.
bool CopyEachOnce(const Program& program, const Operand& operand) {
  if (operand.reads.size() == 1) {
    const AccessSite& site = operand.reads[0];
    const std::vector<const Loop*> loops = program.LoopsAbove(site.path);
    return TouchesEachOnce(program, site, loops) &&
           absl::c_all_of(loops, [&](const Loop* loop) {
             return loop->extent == 1 ||
                    StrideOf(program, site.access, loop->var) != 0;
           });
  }
  double copied = 0;
  for (const AccessSite& site : operand.reads) {
    copied += IterationCount(program, site.path);
  }
  return copied <= kMostCopied * IterationCount(program, operand.producer);
}

// Returns true if it pays off to compute the operand where it is copied.
bool ShouldInlineIntoCopies(const Program& program, const Operand& operand) {
  int64_t nodes = 0;
  const int64_t size = SizeOf(*program.At(operand.producer).statement()->value);
  for (const AccessSite& site : operand.reads) {
    if (!IsCopy(program, site)) return false;
    nodes += size * UnrolledCopies(program, site.path);
    if (IsInterleavedCopy(program, {site.path[0]})) return false;
  }
  return nodes <= kMostUnrolled && CopyEachOnce(program, operand) &&
         ReadsInOrder(program, operand);
}

// Splits a loop above the read of an operand with more dimensions than it is
// read with, if it moves along several of them: a loop over the steps of a sum,
// groups of which share scales. Returns false if there is none.
bool SplitByDimensions(Scheduler& s, const Operand& operand,
                       const AccessSite& read) {
  const Buffer buffer = s.program().buffer(operand.buffer);
  if (read.access.indices.size() == buffer.dimensions.size()) return false;
  for (Path path = Parent(read.path); !path.empty(); path = Parent(path)) {
    const Loop& loop = *s.program().At(path).loop();
    const int64_t step = read.access.indices[0].affine.coefficient(loop.var);
    for (size_t d = 0; d < buffer.dimensions.size(); ++d) {
      if (step == buffer.strides[d] &&
          loop.extent % buffer.dimensions[d] == 0 &&
          s.Try("split", path, {buffer.dimensions[d]})) {
        return true;
      }
    }
  }
  return false;
}

// Computes the operand in the statements that read it.
bool Inline(Scheduler& s, Operand operand) {
  const Scheduler::Checkpoint mark = s.Save();
  // Paths are others after each step.
  while (absl::c_any_of(operand.reads, [&](const AccessSite& read) {
    return SplitByDimensions(s, operand, read);
  })) {
    operand = *AsComputedOperand(s.program(), operand.buffer);
  }
  if (s.Try("inline", operand.producer)) return true;
  s.Restore(mark);
  return false;
}

// Returns true for a sum of products.
bool SumsProducts(const Statement& statement) {
  return statement.combine == hlo::Opcode::kAdd &&
         statement.value->kind() == Expression::Kind::kApply &&
         statement.value->opcode() == hlo::Opcode::kMultiply;
}

// The dimension of an operand along which the loop at the top of the nest that
// reads it moves, and by how many elements in each iteration.
struct Block {
  size_t dimension = 0;
  int64_t size = 1;
  friend bool operator==(const Block&, const Block&) = default;
};

std::optional<Block> BlockOf(const Program& program, const Operand& operand,
                             const Loop& loop) {
  const Buffer& buffer = program.buffer(operand.buffer);
  std::optional<Block> block;
  for (const AccessSite& site : operand.reads) {
    const bool is_flat = site.access.indices.size() != buffer.dimensions.size();
    std::optional<Block> here;
    for (size_t d = 0; d < buffer.dimensions.size() && !here.has_value(); ++d) {
      if (buffer.dimensions[d] == 1) continue;
      const Index& index = site.access.indices[is_flat ? 0 : d];
      const int64_t stride = is_flat ? buffer.strides[d] : 1;
      const int64_t step = index.affine.coefficient(loop.var);
      if (index.offset != nullptr || (is_flat && step < stride)) {
        return std::nullopt;
      }
      if (step != 0) here = {d, step / stride};
    }
    if (!here.has_value() || here->size < 1 ||
        here->size * loop.extent != buffer.dimensions[here->dimension] ||
        (block.has_value() && block != here)) {
      return std::nullopt;
    }
    block = here;
  }
  return block;
}

// Fuses the nest that computes `operand` with the one at `nest`, over blocks.
bool FuseBlocks(Scheduler& s, const Operand& operand, int32_t nest) {
  const Loop& reader = *s.program().At({nest}).loop();
  const std::optional<Block> block = BlockOf(s.program(), operand, reader);
  if (!block.has_value()) return false;
  const LoopMode mode = reader.mode;
  LoopChain chain(s, {operand.producer[0]});
  const Affine& along = s.program()
                            .At(operand.producer)
                            .statement()
                            ->target.indices[block->dimension]
                            .affine;
  if (along.terms().size() != 1 || along != Affine::Var(along.terms()[0].var)) {
    return false;
  }
  VarId blocks = along.terms()[0].var;
  VarId inside = blocks;
  if (block->size > 1 && !chain.Split(blocks, block->size, blocks, inside)) {
    return false;
  }
  if (!chain.MoveOut({blocks}) ||
      (mode == LoopMode::kParallel && !s.Try("parallelize", chain.top()))) {
    return false;
  }
  int32_t at = operand.producer[0];
  for (; at + 1 < nest; ++at) {
    if (!s.Try("swap", {at})) return false;
  }
  if (!s.Try("fuse", {at}) || !s.Try("shrink", {at}, {operand.buffer})) {
    return false;
  }
  const int64_t bytes = s.program().buffer(operand.buffer).allocated_bytes();
  if (bytes > s.machine().l2_bytes / 2) return false;
  if (bytes <= kStackBytes) s.Try("set_memory", {}, {operand.buffer, kStack});
  VectorizeInnermost(s, {at, 0});
  return true;
}

}  // namespace

bool IsComputedInOrder(const Program& program, BufferId buffer) {
  const std::optional<Operand> operand = AsComputedOperand(program, buffer);
  return operand.has_value() && ReadsInOrder(program, *operand);
}

void InlineOperandsReadOnce(Scheduler& s, const Path& path,
                            absl::Span<const BufferId> operands) {
  for (BufferId buffer : operands) {
    const auto operand = AsComputedOperand(s.program(), buffer);
    if (!operand.has_value() || operand->reads.size() != 1) continue;
    const AccessSite& read = operand->reads[0];
    if (read.path[0] == path[0] &&
        SumsProducts(*s.program().At(read.path).statement()) &&
        IterationCount(s.program(), read.path) <=
            IterationCount(s.program(), operand->producer) &&
        ReadsInOrder(s.program(), *operand) && Inline(s, *operand)) {
      return;  // one nest fewer is in front of the product
    }
  }
}

void InlineIntoCopies(Scheduler& s, absl::Span<const BufferId> operands) {
  for (BufferId buffer : operands) {
    const auto operand = AsComputedOperand(s.program(), buffer);
    if (operand.has_value() && ShouldInlineIntoCopies(s.program(), *operand)) {
      Inline(s, *operand);
    }
  }
}

void BlockOperands(Scheduler& s, absl::Span<const BufferId> operands) {
  for (BufferId buffer : operands) {
    const auto operand = AsComputedOperand(s.program(), buffer);
    if (!operand.has_value() || s.program().buffer(buffer).allocated_bytes() <=
                                    s.machine().l2_bytes / 2) {
      continue;
    }
    const int32_t nest = operand->reads[0].path[0];
    if (!absl::c_all_of(operand->reads, [&](const AccessSite& site) {
          return site.path[0] == nest;
        })) {
      continue;
    }
    const Scheduler::Checkpoint mark = s.Save();
    if (!FuseBlocks(s, *operand, nest)) s.Restore(mark);
  }
}

}  // namespace hone::loops
