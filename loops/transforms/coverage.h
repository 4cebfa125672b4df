#ifndef HONE_LOOPS_TRANSFORMS_COVERAGE_H_
#define HONE_LOOPS_TRANSFORMS_COVERAGE_H_

#include "loops/dependences.h"
#include "loops/program.h"

namespace hone::loops {

// Whether every element that `read` reads has been given a value by `write`
// before, in the same iteration of all scopes that are above both: no value
// from an earlier iteration of those is needed then. Both access one buffer;
// `read` may be a combining write. May be false where it is true.
bool Covers(const Program& program, const AccessSite& write,
            const AccessSite& read);

// Whether some write at or below `path` covers `read`, which is below it too.
bool IsCovered(const Program& program, const Path& path,
               const AccessSite& read);

// Whether the statement of `site` is carried out in every iteration of the
// scope at `path` (above it), for every iteration of those scopes below that
// its indices use; a load must not be in a where.
bool IsUnconditional(const Program& program, const Path& path,
                     const AccessSite& site);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_COVERAGE_H_
