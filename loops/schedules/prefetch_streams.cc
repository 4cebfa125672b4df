#include "loops/schedules/prefetch_streams.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "absl/algorithm/container.h"

#include "loops/ir/rewrite.h"
#include "loops/schedules/nest.h"

namespace hone::loops {
namespace {

// The value of the choice for no prefetches.
constexpr int64_t kNone = 1;
// Shorter loops end before what they prefetch comes.
constexpr int64_t kLeastIterations = 8;
// Iterations that move less prefetch each line several times.
constexpr int64_t kLeastBytes = 32;
// Iterations that move further read rows: their distance is in rows then.
constexpr int64_t kMostBytes = 1024;

// Returns true if nothing but unrolled and vector loops is in `loop`.
bool IsWrittenOut(const Loop& loop) {
  return absl::c_all_of(loop.body, [](const Node& node) {
    return node.loop() == nullptr ||
           ((node.loop()->mode == LoopMode::kUnrolled ||
             node.loop()->mode == LoopMode::kVector) &&
            IsWrittenOut(*node.loop()));
  });
}

// Returns the most bytes by which an iteration of the loop at `path` moves what
// it reads of arguments that do not fit in L2.
int64_t BytesPerIteration(const Scheduler& s, const Path& path,
                          const Loop& loop) {
  int64_t bytes = 0;
  VisitStatements(s.program(), path, [&](const Path&, const Statement& st) {
    VisitAccesses(st, [&](const Access& access, bool is_target) {
      const Buffer& buffer = s.program().buffer(access.buffer);
      if (is_target || buffer.memory != Memory::kArgument ||
          buffer.allocated_bytes() <= s.machine().l2_bytes) {
        return;
      }
      const int64_t stride =
          StrideOf(s.program(), access, loop.var).value_or(0);
      bytes = std::max(bytes, std::abs(stride) * hlo::ByteWidth(buffer.type));
    });
  });
  return bytes;
}

}  // namespace

void PrefetchStreams(Scheduler& s) {
  std::vector<Path> streams;
  VisitLoops(s.program(), {}, [&](const Path& path, const Loop& loop) {
    if (loop.mode == LoopMode::kSequential && loop.prefetch == 0 &&
        loop.extent >= kLeastIterations && IsWrittenOut(loop) &&
        BytesPerIteration(s, path, loop) >= kLeastBytes) {
      streams.push_back(path);
    }
  });
  for (const Path& path : streams) {
    const int64_t lines = s.Choose(Choice::kPrefetch, kNone);
    if (lines == kNone) continue;
    const int64_t bytes =
        BytesPerIteration(s, path, *s.program().At(path).loop());
    s.Try("prefetch", path,
          {std::max<int64_t>(1, lines * s.machine().cache_line_bytes /
                                    std::min(bytes, kMostBytes))});
  }
}

}  // namespace hone::loops
