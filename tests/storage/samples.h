#ifndef HONE_TESTS_STORAGE_SAMPLES_H_
#define HONE_TESTS_STORAGE_SAMPLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "space/trial.h"
#include "storage/record.h"

namespace hone::storage {

inline CacheKey SampleKey(const std::string& module = "m0") {
  return {.module_fingerprint = module,
          .target = "hlo",
          .task = "pass_order",
          .task_options = "score=ops",
          .space_version = "1:cse,dce"};
}

// Every field differs from its default.
inline Tuning SampleTuning(const std::string& id,
                           const std::string& module = "m0") {
  Tuning tuning;
  tuning.id = id;
  tuning.key = SampleKey(module);
  tuning.module_name = "jit_step";
  tuning.module_digest = "abc";
  tuning.optimizer = "beam";
  // The seed depends on the id, since tunings of one key, optimizer and seed
  // are the same tuning.
  tuning.seed = 0xfedcba9876543210 + FastHash(id).low % 1000;
  tuning.budget = {.trials = 500, .time = absl::Seconds(30)};
  tuning.created = absl::FromUnixNanos(1'234'567'890'123'456'789);
  tuning.updated = tuning.created;
  return tuning;
}

inline Record SampleRecord(const std::string& module = "m0") {
  Record record;
  record.key = SampleKey(module);
  record.module_name = "jit_step";
  record.unit = "ops";
  record.default_cost = 100;
  record.best_cost = 87.5;
  record.decision = R"({"passes":["dce"]})";
  record.tuned_module_digest = "def";
  record.optimizer = "beam";
  record.seed = 0xfedcba9876543210;
  record.trials = 321;
  record.seconds = 1.25;
  record.verification = {.method = "evaluator: 2 random",
                         .max_rel_error = 1e-6};
  record.producer = "hone 0.1.0 on somewhere";
  record.created = absl::FromUnixNanos(1'234'567'890'123'456'789);
  return record;
}

inline space::Trial SampleTrial(int64_t id) {
  space::Trial trial;
  trial.id = id;
  trial.candidate.choices = {static_cast<int32_t>(id), 1, 2};
  trial.measurement.cost = 100.5 - static_cast<double>(id);
  return trial;
}

// Trials `first` … `end`-1.
inline std::vector<space::Trial> SampleTrials(int64_t first, int64_t end) {
  std::vector<space::Trial> trials;
  for (int64_t id = first; id < end; ++id) trials.push_back(SampleTrial(id));
  return trials;
}

}  // namespace hone::storage

#endif  // HONE_TESTS_STORAGE_SAMPLES_H_
