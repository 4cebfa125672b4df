#ifndef HONE_LOOPS_TRANSFORMS_ANALYSIS_COVERAGE_H_
#define HONE_LOOPS_TRANSFORMS_ANALYSIS_COVERAGE_H_

#include "loops/analysis/dependences.h"
#include "loops/ir/program.h"

namespace hone::loops {

// Returns true if `write` has written every element that `read` reads before,
// in the same iteration of all common loops, so that `read` needs no value from
// an earlier iteration. Both must access the same buffer; `read` may be a
// combining write. Conservative: may return false although it holds.
bool Covers(const Program& program, const AccessSite& write,
            const AccessSite& read);

// Returns true if some write at or below `path` covers `read`, which must be
// below `path` too.
bool IsCovered(const Program& program, const Path& path,
               const AccessSite& read);

// Returns true if the statement of `site` runs in every iteration of the loop
// at `path` (above it), for every iteration of the inner loops that its indices
// use. Returns false for a load inside a kWhere.
bool IsUnconditional(const Program& program, const Path& path,
                     const AccessSite& site);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_ANALYSIS_COVERAGE_H_
