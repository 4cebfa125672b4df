#include "space/problem.h"

#include <memory>
#include <utility>

#include "base/status_macros.h"

namespace hone::space {

std::vector<Seed> Problem::Seeds() const {
  return {{"default", DefaultCandidate()}};
}

absl::StatusOr<std::unique_ptr<Surrogate>> Problem::MakeSurrogate() const {
  return nullptr;
}

absl::StatusOr<Measurement> Problem::Measure(const Candidate& candidate) const {
  HONE_ASSIGN_OR_RETURN(std::vector<Measurement> measurements,
                        MeasureBatch({&candidate, 1}));
  return std::move(measurements[0]);
}

}  // namespace hone::space
