#ifndef HONE_BENCH_FAULTS_GOOD_MODULES_H_
#define HONE_BENCH_FAULTS_GOOD_MODULES_H_

#include <cstdint>

#include "absl/status/status.h"

#include "bench/service/daemon_process.h"

namespace hone::bench {

// Has `count` small modules compiled, one after the other, each with a short
// tuning. Errors: those of the calls; Internal if a result is not tuned.
absl::Status CompileGoodModules(const DaemonProcess& daemon, int64_t count);

}  // namespace hone::bench

#endif  // HONE_BENCH_FAULTS_GOOD_MODULES_H_
