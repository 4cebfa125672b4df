#include "loops/schedules/panel_copies.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"

#include "loops/ir/rewrite.h"
#include "loops/schedules/nest.h"
#include "loops/schedules/vectorize_innermost.h"
#include "loops/transforms/analysis/footprint.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

// Returns the statement of `loop` if it is a sequential nest that copies an
// array to a local in memory; null otherwise.
const Statement* CopyToPanel(const Program& program, const Loop& loop) {
  const Loop* at = &loop;
  while (at != nullptr && at->mode == LoopMode::kSequential &&
         at->locals.empty() && at->body.size() == 1) {
    const Statement* const copy = at->body[0].statement();
    if (copy != nullptr) {
      const Buffer& panel = program.buffer(copy->target.buffer);
      const bool is_copy = !copy->combine.has_value() && panel.IsLocal() &&
                           panel.memory != Memory::kRegister;
      return is_copy ? copy : nullptr;
    }
    at = OnlyChildLoop(*at);
  }
  return nullptr;
}

// Returns true if the copy reads along the loop of `var`, and writes across it.
bool IsTransposedAlong(const Program& program, const Statement& copy,
                       VarId var) {
  bool reads_along = false;
  VisitAccesses(copy, [&](const Access& access, bool is_target) {
    reads_along |= !is_target && StrideOf(program, access, var) == 1;
  });
  return reads_along && StrideOf(program, copy.target, var) != 1;
}

// Peels the first loop at or below `path`, of a copy, that reads along its
// array and has a condition in some iterations only. Blocks of the others can
// be transposed in registers.
void PeelTransposed(Scheduler& s, const Path& path) {
  const Statement& copy =
      *CopyToPanel(s.program(), *s.program().At(path).loop());
  std::vector<Step> steps;
  (*FindTransform("peel"))->Enumerate(s.program(), s.machine(), steps);
  const auto step = absl::c_find_if(steps, [&](const Step& peel) {
    return IsAtOrBelow(peel.path, path) &&
           IsTransposedAlong(s.program(), copy,
                             s.program().At(peel.path).loop()->var);
  });
  if (step != steps.end()) {
    s.Try(step->transform, step->path, step->parameters);
  }
}

}  // namespace

bool PackOneAccess(Scheduler& s, const Path& path, BufferId matrix, VarId row,
                   bool moves_with_row, bool is_whole) {
  const std::vector<AccessSite> sites = SitesOf(s.program(), path, matrix);
  const auto access = absl::c_find_if(sites, [&](const AccessSite& site) {
    return (StrideOf(s.program(), site.access, row) != 0) == moves_with_row;
  });
  return access != sites.end() &&
         s.Try("pack", path,
               {matrix, is_whole ? 4 : 3, access - sites.begin()});
}

bool HasConditions(const Program& program, const Path& path) {
  bool has = false;
  VisitStatements(program, path, [&](const Path&, const Statement& st) {
    has |= st.value->kind() == Expression::Kind::kWhere;
  });
  return has;
}

void VectorizePanelCopies(Scheduler& s, const Path& path) {
  std::vector<Path> copies;
  VisitLoops(s.program(), path, [&](const Path& here, const Loop& loop) {
    if (CopyToPanel(s.program(), loop) != nullptr &&
        (copies.empty() || !IsAtOrBelow(here, copies.back()))) {
      copies.push_back(here);
    }
  });
  // From the last on: parts that come off a copy follow it.
  absl::c_reverse(copies);
  for (const Path& copy : copies) {
    const auto siblings = [&] {
      return BodyAt(s.program(), Parent(copy)).size();
    };
    const size_t before = siblings();
    PeelTransposed(s, copy);
    for (size_t i = siblings() - before + 1; i-- > 0;) {
      Path part = copy;
      part.back() += static_cast<int32_t>(i);
      VectorizeInnermost(s, part);
    }
  }
}

}  // namespace hone::loops
