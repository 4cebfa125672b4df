#ifndef HONE_OPTIMIZERS_POLICIES_LIBRARY_H_
#define HONE_OPTIMIZERS_POLICIES_LIBRARY_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "optimizers/optimizer.h"
#include "optimizers/policies/training.h"
#include "space/problem.h"

namespace hone::optimizers::policies {

// What the shared object with everything of Torch offers. It is loaded when the
// first learned optimizer is made, as loading Torch takes most of a second,
// which programs that do not learn must not pay.
struct Library {
  // The learned optimizer of that id.
  absl::StatusOr<std::unique_ptr<Optimizer>> (*create)(
      absl::string_view id, const space::Problem& problem,
      const OptimizerOptions& options);
  absl::StatusOr<TrainingResult> (*train)(const TrainingSet& set,
                                          const TrainingOptions& options);
};

// The library, which stays loaded. It is looked for in ../lib beside the
// running program. Errors: FailedPrecondition when it cannot be loaded, with
// the reason.
absl::StatusOr<const Library*> LoadLibrary();

// The library's optimizer of that id.
// Errors: also those of LoadLibrary.
absl::StatusOr<std::unique_ptr<Optimizer>> CreateLearned(
    absl::string_view id, const space::Problem& problem,
    const OptimizerOptions& options);

}  // namespace hone::optimizers::policies

// What LoadLibrary looks up in the shared object.
extern "C" const hone::optimizers::policies::Library* HonePolicyLibrary();

#endif  // HONE_OPTIMIZERS_POLICIES_LIBRARY_H_
