#include <string>
#include <utility>

#include "base/hash.h"
#include "base/status_macros.h"
#include "tuning/registry.h"
#include "tuning/stored_module.h"
#include "tuning/subject.h"
#include "tuning/tuner.h"

namespace hone::tuning {

absl::StatusOr<storage::Tuning> CreateTuning(const TunerContext& context,
                                             const TuningSpec& spec,
                                             const storage::CacheKey& key,
                                             const StoredModule& module) {
  storage::Tuning tuning;
  tuning.id = RandomUuid();
  tuning.key = key;
  tuning.module_name = module.name;
  tuning.module_digest = module.digest;
  tuning.optimizer = OptimizerOf(spec);
  tuning.seed = spec.seed;
  tuning.budget = spec.budget;
  tuning.created = context.clock->Now();
  tuning.updated = tuning.created;
  return context.store->CreateTuning(tuning);
}

absl::StatusOr<storage::Tuning> CreateTuning(const TunerContext& context,
                                             const TuningSpec& spec,
                                             const Subject& subject) {
  HONE_RETURN_IF_ERROR(ValidateSpec(spec));
  HONE_ASSIGN_OR_RETURN(const Task* const task, FindTask(spec.task));
  HONE_RETURN_IF_ERROR(
      task->CheckSubject(subject.kind(), subject.name(), spec.options));
  HONE_ASSIGN_OR_RETURN(
      const storage::CacheKey key,
      MakeCacheKey(subject.Fingerprint(), spec, context.kernels));
  HONE_ASSIGN_OR_RETURN(std::string digest,
                        StoreSubject(*context.store, subject));
  return CreateTuning(context, spec, key, {subject.name(), std::move(digest)});
}

}  // namespace hone::tuning
