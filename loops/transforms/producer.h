#ifndef HONE_LOOPS_TRANSFORMS_PRODUCER_H_
#define HONE_LOOPS_TRANSFORMS_PRODUCER_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "loops/program.h"
#include "loops/rewrite.h"

namespace hone::loops {

// The statement that gives a local all its values: target = value, without
// combining and without a predicate.
struct Producer {
  Path path;
  BufferId buffer = 0;
};

// The statement at `path` as the producer of a local that nothing else writes.
// Errors: InvalidArgument where it is none.
absl::StatusOr<Producer> ProducerAt(const Program& program, const Path& path);

// The only statement that writes `buffer`, as its producer.
// Errors: InvalidArgument where there is none or it is no producer.
absl::StatusOr<Producer> ProducerOf(const Program& program, BufferId buffer);

// The statement at `consumer` with the producer's value in place of its loads
// of the local.
// Errors: InvalidArgument where it does not load the local, where a load may
// see a value of another iteration, where what the value depends on may have
// changed since, or where an index does not say which iteration of the producer
// is meant.
absl::StatusOr<StatementPtr> WithValueOf(const Program& program,
                                         const Producer& producer,
                                         const Path& consumer);

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_PRODUCER_H_
