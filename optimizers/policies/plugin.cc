// The entry of the shared object with everything of Torch.

#include <string>

#include "absl/strings/str_cat.h"
#include <c10/util/Exception.h>

#include "optimizers/policies/factories.h"
#include "optimizers/policies/library.h"

namespace hone::optimizers::policies {
namespace {

absl::StatusOr<std::unique_ptr<Optimizer>> Create(
    absl::string_view name, const space::Problem& problem,
    const OptimizerOptions& options) {
#define HONE_OPTIMIZER(id, factory, kinds)
#define HONE_LEARNED_OPTIMIZER(id, factory, kinds) \
  if (name == id) return factory(problem, options);
#include "optimizers/optimizers.def"
#undef HONE_LEARNED_OPTIMIZER
#undef HONE_OPTIMIZER
  return absl::NotFoundError(absl::StrCat("unknown optimizer '", name, "'"));
}

// Torch warns of interfaces of its own that may change, which is no news to
// users.
class NoWarnings final : public c10::WarningHandler {
 public:
  void process(const c10::SourceLocation&, const std::string&, bool) override {}
};

constexpr Library kLibrary = {.create = Create, .train = Train};

}  // namespace
}  // namespace hone::optimizers::policies

extern "C" const hone::optimizers::policies::Library* HonePolicyLibrary() {
  static hone::optimizers::policies::NoWarnings no_warnings;
  c10::Warning::set_warning_handler(&no_warnings);
  return &hone::optimizers::policies::kLibrary;
}
