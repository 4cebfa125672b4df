#include <optional>
#include <string>
#include <utility>

#include "absl/base/const_init.h"
#include "absl/synchronization/mutex.h"

#include "base/hash.h"
#include "base/status_macros.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/text/printer.h"
#include "tuning/tuner.h"

namespace hone::tuning {
namespace {

// The unfinished tuning of the same key, optimizer and seed.
absl::StatusOr<std::optional<storage::Tuning>> FindSame(
    storage::Store& store, const storage::Tuning& wanted) {
  const auto is_same = [&](const storage::Tuning& tuning) {
    return tuning.key == wanted.key && tuning.optimizer == wanted.optimizer &&
           tuning.seed == wanted.seed;
  };
  HONE_ASSIGN_OR_RETURN(std::optional<storage::Tuning> found,
                        store.FindUnfinishedTuning(wanted.key));
  // Usually there is none, or the right one.
  if (!found || is_same(*found)) return found;
  std::string page_token;
  do {
    HONE_ASSIGN_OR_RETURN(const storage::Page<storage::Tuning> page,
                          store.ListTunings({storage::TuningState::kPending,
                                             storage::TuningState::kRunning},
                                            0, page_token));
    for (const storage::Tuning& tuning : page.items) {
      if (is_same(tuning)) return tuning;
    }
    page_token = page.next_page_token;
  } while (!page_token.empty());
  return std::nullopt;
}

}  // namespace

absl::StatusOr<storage::Tuning> CreateTuning(const TunerContext& context,
                                             const hlo::Module& module,
                                             const TuneRequest& request) {
  HONE_RETURN_IF_ERROR(ValidateRequest(request));
  storage::Tuning tuning;
  HONE_ASSIGN_OR_RETURN(tuning.key, MakeCacheKey(hlo::Fingerprint(module),
                                                 request, context.kernels));
  tuning.id = RandomUuid();
  tuning.module_name = module.name();
  tuning.optimizer = request.optimizer;
  tuning.seed = request.seed;
  tuning.budget = request.budget;
  tuning.created = context.clock->Now();
  tuning.updated = tuning.created;
  HONE_ASSIGN_OR_RETURN(tuning.module_digest,
                        context.store->PutBlob(hlo::PrintModule(module)));

  // A store is used by one process only, so this keeps two equal requests from
  // creating two tunings.
  static absl::Mutex mu(absl::kConstInit);
  absl::MutexLock lock(&mu);
  HONE_ASSIGN_OR_RETURN(std::optional<storage::Tuning> same,
                        FindSame(*context.store, tuning));
  if (same) return *std::move(same);
  HONE_RETURN_IF_ERROR(context.store->CreateTuning(tuning));
  return tuning;
}

}  // namespace hone::tuning
