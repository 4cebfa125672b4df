#ifndef HONE_LOOPS_TRANSFORMS_ANALYSIS_PRODUCER_H_
#define HONE_LOOPS_TRANSFORMS_ANALYSIS_PRODUCER_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "loops/ir/program.h"
#include "loops/ir/rewrite.h"

namespace hone::loops {

// The statement that computes all values of a local: target = value, without
// combining and without a predicate.
struct Producer {
  Path path;
  BufferId buffer = 0;
};

// Returns the statement at `path` as the producer of a local that nothing else
// writes, or InvalidArgument if it is not one.
absl::StatusOr<Producer> ProducerAt(const Program& program, const Path& path);

// Returns the producer of `buffer`, the only statement that writes it, or
// InvalidArgument if there is none.
absl::StatusOr<Producer> ProducerOf(const Program& program, BufferId buffer);

// Returns the statement at `consumer` with its loads of the local replaced by
// the producer's value. Returns InvalidArgument if it does not load the local,
// if a load may see a value of another iteration, if an input of the value may
// have changed since, or if an index does not determine the producer's
// iteration.
absl::StatusOr<StatementPtr> WithValueOf(const Program& program,
                                         const Producer& producer,
                                         const Path& consumer);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_ANALYSIS_PRODUCER_H_
