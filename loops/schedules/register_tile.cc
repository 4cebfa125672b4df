#include "loops/schedules/register_tile.h"

#include <vector>

#include "loops/ir/rewrite.h"
#include "loops/transforms/locals.h"

namespace hone::loops {
namespace {

constexpr int64_t kRegisterMemory = 2;  // Of set_memory.

// Makes the columns of the tile in the loop at `path` contiguous, and its
// rows whole vectors, so that no two rows share one.
void LayOut(Scheduler& s, const Path& path, BufferId tile, int64_t lanes) {
  size_t along = 0;
  VisitStatements(s.program(), path, [&](const Path& at, const Statement& st) {
    if (st.target.buffer != tile) return;
    const std::vector<const Loop*> loops = s.program().LoopsAbove(at);
    if (loops.empty() || loops.back()->mode != LoopMode::kVector) return;
    const Loop& vector = *loops.back();
    for (size_t d = 0; d < st.target.indices.size(); ++d) {
      if (st.target.indices[d].affine.Uses(vector.var)) along = d;
    }
  });
  const hlo::DimensionVector dimensions = s.program().buffer(tile).dimensions;
  if (dimensions.size() < 2) return;
  const size_t last = dimensions.size() - 1;
  if (along != last) {
    s.Try("permute", {}, {tile, static_cast<int64_t>(along)});
  }
  const int64_t rest = dimensions[along] % lanes;
  if (rest == 0) return;
  const size_t rows = along == last ? last - 1 : last;
  s.Try("pad", {}, {tile, static_cast<int64_t>(rows), lanes - rest});
}

}  // namespace

void KeepInRegisters(Scheduler& s, const Path& path, BufferId target,
                     int64_t lanes) {
  BufferId tile = target;
  const bool is_whole = path.empty() && s.program().buffer(target).IsLocal();
  if (!is_whole && !s.Try("shrink", path, {target})) {
    if (!s.Try("cache_write", path, {target})) return;
    tile = static_cast<BufferId>(s.program().buffers().size()) - 1;
  }
  LayOut(s, path, tile, lanes);
  s.Try("set_memory", {}, {tile, kRegisterMemory});
}

}  // namespace hone::loops
