#ifndef HONE_TESTS_WORK_WORK_FIXTURE_H_
#define HONE_TESTS_WORK_WORK_FIXTURE_H_

#include <csignal>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include <sys/syscall.h>
#include <unistd.h>

#include "hone/internal/work.pb.h"
#include "storage/memory_store.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_modules.h"
#include "tuning/search.h"
#include "tuning/tuner.h"
#include "work/work_process.h"

namespace hone::work {

inline WorkProcessOptions TestOptions() { return {.program = HONE_BINARY}; }

// A job that parses a module.
inline internal::Job DescribeJob(absl::string_view module) {
  internal::Job job;
  job.mutable_describe()->set_module(std::string(module));
  job.mutable_describe()->set_file_name("m.hlo");
  return job;
}

// A tuning of `module`.
inline tuning::SearchJob SearchOf(absl::string_view module, int64_t trials,
                                  const std::string& optimizer = "random") {
  storage::MemoryStore store;
  tuning::TuningSpec spec;
  spec.optimizer = optimizer;
  spec.budget.trials = trials;
  const auto tuning =
      tuning::CreateTuning({.store = &store, .clock = &SystemClock()}, spec,
                           tuning::ParseOrDie(module));
  EXPECT_TRUE(tuning.ok()) << tuning.status();
  tuning::SearchJob job;
  job.tuning = *tuning;
  job.module = *store.GetBlob(tuning->module_digest);
  return job;
}

// The only child process that this thread has started.
inline pid_t OnlyChild() {
  std::ifstream children(
      absl::StrCat("/proc/self/task/", syscall(SYS_gettid), "/children"));
  pid_t pid = -1;
  pid_t another = -1;
  children >> pid;
  EXPECT_TRUE(!(children >> another));
  return pid;
}

}  // namespace hone::work

#endif  // HONE_TESTS_WORK_WORK_FIXTURE_H_
