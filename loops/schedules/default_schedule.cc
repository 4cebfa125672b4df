#include "loops/schedules/default_schedule.h"

#include "absl/algorithm/container.h"
#include "absl/container/btree_set.h"

#include "loops/ir/rewrite.h"
#include "loops/schedules/adjacent_steps.h"
#include "loops/schedules/collapse_columns.h"
#include "loops/schedules/contraction.h"
#include "loops/schedules/fuse_epilogues.h"
#include "loops/schedules/fuse_nests.h"
#include "loops/schedules/inline_operands.h"
#include "loops/schedules/interleaved_panels.h"
#include "loops/schedules/nest.h"
#include "loops/schedules/peel_bounds.h"
#include "loops/schedules/prefetch_copies.h"
#include "loops/schedules/prefetch_streams.h"
#include "loops/schedules/row_blocks.h"
#include "loops/schedules/row_lanes.h"
#include "loops/schedules/row_sums.h"
#include "loops/schedules/scans.h"
#include "loops/schedules/scheduler.h"
#include "loops/schedules/short_sums.h"
#include "loops/schedules/sliding_windows.h"
#include "loops/schedules/vectorize_innermost.h"
#include "loops/transforms/analysis/footprint.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"

namespace hone::loops {

namespace {

constexpr double kReadsWorthWidening = 4;

// Copies the inputs of convolutions with a margin, so that nothing in their
// inner loops asks where it is. Returns these inputs.
std::vector<BufferId> PadInputs(Scheduler& scheduler) {
  absl::btree_set<BufferId> padded;
  const Program& program = scheduler.program();
  VisitStatements(program, {}, [&](const Path& path, const Statement& st) {
    const std::optional<Contraction> c = AsContraction(program, path);
    if (!c.has_value() || ShouldReadBorderInPlace(program, *c)) return;
    for (const ExpressionPtr& operand : st.value->operands()) {
      const Expression* factor = operand.get();
      if (factor->kind() == Expression::Kind::kApply) {  // a conversion
        factor = factor->operands()[0].get();
      }
      if (factor->kind() != Expression::Kind::kWhere) continue;
      VisitLoads(*factor,
                 [&](const Access& access) { padded.insert(access.buffer); });
    }
  });
  std::vector<BufferId> inputs(padded.begin(), padded.end());
  std::erase_if(inputs, [&](BufferId buffer) {
    return !scheduler.Try("pad_input", {}, {buffer});
  });
  return inputs;
}

// Stores the padded images of depthwise convolutions in the type of their
// products, if each element is read several times.
void WidenImages(Scheduler& scheduler) {
  absl::btree_set<BufferId> images;
  const Program& program = scheduler.program();
  VisitStatements(program, {}, [&](const Path& path, const Statement&) {
    const std::optional<Contraction> c = AsContraction(program, path);
    if (!c.has_value() || (!c->rows.empty() && !c->columns.empty())) return;
    const Access& image = c->rows.empty() ? *c->b : *c->a;
    double reads = 1;
    for (const Loop* loop : program.LoopsAbove(path)) {
      reads *= static_cast<double>(loop->extent);
    }
    const double elements =
        static_cast<double>(program.buffer(image.buffer).allocated_elements());
    if (reads >= kReadsWorthWidening * elements) images.insert(image.buffer);
  });
  for (BufferId buffer : images) scheduler.Try("widen", {}, {buffer});
}

// Returns true if the results are larger than the last cache together: lines
// that are stored past it need not be read before.
bool ExceedsCaches(const Program& program, const Machine& machine) {
  int64_t bytes = 0;
  for (const auto& buffer : program.buffers()) {
    if (buffer->memory == Memory::kResult) bytes += buffer->allocated_bytes();
  }
  return bytes > std::max(machine.l2_bytes, machine.l3_bytes);
}

// Stores vectors of results past the caches, where nothing reads them again.
void StreamResults(Scheduler& scheduler) {
  std::vector<Path> stores;
  const Program& program = scheduler.program();
  VisitStatements(program, {}, [&](const Path& path, const Statement& st) {
    if (path.size() > 1 &&
        program.buffer(st.target.buffer).memory == Memory::kResult &&
        program.At(Parent(path)).loop()->mode == LoopMode::kVector) {
      stores.push_back(path);
    }
  });
  for (const Path& path : stores) scheduler.Try("non_temporal", path);
}

void ScheduleElementwise(Scheduler& scheduler, const Path& path) {
  InterleaveScans(scheduler, path);
  VectorizeInnermost(scheduler, path);
}

// Schedules each nest of a block of rows that FuseRowBlocks fused; returns
// false if the loop at `top` has none.
bool ScheduleRowBlock(Scheduler& s, const Path& top) {
  Path path = top;
  while (OnlyChildLoop(*s.program().At(path).loop()) != nullptr) {
    path.push_back(0);
  }
  const std::vector<Node>& nests = s.program().At(path).loop()->body;
  if (nests.size() < 2 || !absl::c_all_of(nests, [](const Node& node) {
        return node.loop() != nullptr;
      })) {
    return false;
  }
  const auto siblings = [&] {
    return BodyAt(s.program(), Parent(path)).size();
  };
  const size_t others = siblings() - 1;
  PeelBounds(s, path);
  if (path != top) ParallelizeNest(s, top);
  for (size_t i = siblings() - others; i-- > 0;) {
    const Path part = Sibling(path, static_cast<int32_t>(i));
    if (path == top) ParallelizeNest(s, part);
    for (size_t j = BodyAt(s.program(), part).size(); j-- > 0;) {
      const Path nest = Child(part, static_cast<int32_t>(j));
      if (s.program().At(nest).loop() == nullptr) continue;
      if (!ScheduleRowSums(s, nest)) ScheduleElementwise(s, nest);
    }
  }
  return true;
}

// Schedules each nest of a block on its own, where one of them is a matrix
// product that the loops around the block do not separate from the others:
// convolutions by Winograd's algorithm. Returns false for other nests.
bool ScheduleBlocks(Scheduler& s, const Path& top) {
  Path path = top;
  while (OnlyChildLoop(*s.program().At(path).loop()) != nullptr) {
    path.push_back(0);
  }
  const auto nests = [&]() -> const std::vector<Node>& {
    return s.program().At(path).loop()->body;
  };
  if (absl::c_count_if(nests(), [](const Node& node) {
        return node.loop() != nullptr;
      }) < 2) {
    return false;
  }
  if (!HasContraction(s.program(), top)) return false;
  ParallelizeNest(s, top);
  for (size_t i = nests().size(); i-- > 0;) {
    const Path nest = Child(path, static_cast<int32_t>(i));
    if (s.program().At(nest).loop() == nullptr) continue;
    if (!ScheduleContraction(s, nest)) ScheduleElementwise(s, nest);
  }
  return true;
}

// Computes matrices that are multiplied by vectors in these products.
void InlineReadOnce(Scheduler& s) {
  for (size_t i = 0; i < s.program().body().size(); ++i) {
    const Path path = {static_cast<int32_t>(i)};
    const size_t nests = s.program().body().size();
    InlineOperandsReadOnce(s, path, BuffersIn(s.program(), path));
    i -= nests - s.program().body().size();
  }
}

// Schedules the nest at `path` if it is a matrix product or a convolution.
// Returns the number of nests in front of it, which compute operands, that have
// become part of it; nullopt if it is another nest.
std::optional<size_t> ScheduleProduct(Scheduler& s, const Path& path) {
  const std::vector<BufferId> operands = BuffersIn(s.program(), path);
  if (!ScheduleFewDots(s, path) && !ScheduleContraction(s, path)) {
    return std::nullopt;
  }
  const size_t nests = s.program().body().size();
  InlineIntoCopies(s, operands);
  BlockOperands(s, operands);
  return nests - s.program().body().size();
}

}  // namespace

std::vector<Step> DefaultSchedule(const Program& program,
                                  const Machine& machine,
                                  const Choices& choices, ChoiceUse* use) {
  Scheduler scheduler(program, machine, choices);
  PadChannels(scheduler);
  PadShortSums(scheduler);
  const std::vector<BufferId> padded = PadInputs(scheduler);
  BlockChannels(scheduler);
  WidenImages(scheduler);
  InlineIntoCopies(scheduler, padded);
  InlineReadOnce(scheduler);
  CollapseColumns(scheduler);
  JoinRows(scheduler);
  const RowBlocks blocks = RowBlocksFor(scheduler.program(), machine);
  const int64_t rows = scheduler.Choose(Choice::kRowBlock, blocks.rows);
  const bool in_blocks =
      rows > 1 && FuseRowBlocks(scheduler, rows, blocks.outer);
  const bool fuses = !in_blocks && scheduler.Choose(Choice::kFuse, 2) == 2;
  if (fuses) FuseNests(scheduler);
  ShrinkLocals(scheduler);
  FuseEpilogues(scheduler);
  // Nests are visited from the last on, since the nests that a step splits off
  // follow it.
  for (size_t i = scheduler.program().body().size(); i-- > 0;) {
    const Path path = {static_cast<int32_t>(i)};
    if (scheduler.program().At(path).loop() == nullptr) continue;
    if ((in_blocks && ScheduleRowBlock(scheduler, path)) ||
        ScheduleBlocks(scheduler, path)) {
      continue;
    }
    if (const auto inside = ScheduleProduct(scheduler, path)) {
      i -= *inside;
      continue;
    }
    if (ScheduleInterleavedCopy(scheduler, path) ||
        ScheduleRowLanes(scheduler, path) || ScheduleRowSums(scheduler, path)) {
      continue;
    }
    const size_t others = scheduler.program().body().size() - 1;
    ScheduleElementwise(scheduler, path);
    // Parts that were split off follow it.
    for (size_t j = scheduler.program().body().size() - others; j-- > 0;) {
      ParallelizeNest(scheduler, Sibling(path, static_cast<int32_t>(j)));
    }
  }
  if (fuses) FuseOutermost(scheduler);
  PrefetchCopies(scheduler);
  PrefetchStreams(scheduler);
  const int64_t streams = ExceedsCaches(program, machine) ? 2 : 1;
  if (scheduler.Choose(Choice::kStream, streams) == 2) StreamResults(scheduler);
  if (use != nullptr) *use = scheduler.use();
  return scheduler.steps();
}

}  // namespace hone::loops
