#ifndef HONE_BENCH_VERIFICATION_MUTATIONS_H_
#define HONE_BENCH_VERIFICATION_MUTATIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "base/rng.h"
#include "hlo/ir/module.h"

namespace hone::bench {

// The kinds of wrong rewrites that verification has to refuse: each a mistake
// that a pass could make.
std::vector<absl::string_view> MutationKinds();

// A copy of the module with one mistake of that kind at a random place of its
// entry or of what that calls; nullopt if it has no place for it. The copy
// verifies, and may by chance compute the same.
struct Mutation {
  hlo::Module module;
  // "changed constant at add.12", for reports.
  std::string description;
  // The scalar parameter and the value of it at which the mistake shows, if it
  // is one of those that show at rare values only.
  struct Trigger {
    int32_t parameter = 0;
    double value = 0;
  };
  std::optional<Trigger> trigger;
};
std::optional<Mutation> Mutate(const hlo::Module& module,
                               absl::string_view kind, Rng& rng);

}  // namespace hone::bench

#endif  // HONE_BENCH_VERIFICATION_MUTATIONS_H_
