#include "bench/faults/health_watch.h"

#include <algorithm>
#include <chrono>

#include "absl/time/clock.h"
#include <grpcpp/grpcpp.h>

#include "base/clock.h"
#include "hone/v1/admin_service.grpc.pb.h"

namespace hone::bench {

HealthWatch::HealthWatch(const DaemonProcess& daemon)
    : daemon_(daemon), thread_([this] { Watch(); }) {}

HealthWatch::~HealthWatch() {
  end_ = true;
  if (thread_.joinable()) thread_.join();
}

void HealthWatch::Watch() {
  const auto stub = v1::AdminService::NewStub(daemon_.Connect());
  while (!end_) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(30));
    v1::ListWorkersResponse response;
    const absl::Duration start = SystemClock().Monotonic();
    const bool ok = stub->ListWorkers(&context, {}, &response).ok();
    milliseconds_.push_back(
        ok ? absl::ToDoubleMilliseconds(SystemClock().Monotonic() - start)
           : 30'000);
    absl::SleepFor(absl::Milliseconds(5));
  }
}

double HealthWatch::Report(nlohmann::ordered_json& row) {
  end_ = true;
  thread_.join();
  std::sort(milliseconds_.begin(), milliseconds_.end());
  const size_t size = milliseconds_.size();
  const double p99 = size == 0 ? 0 : milliseconds_[size * 99 / 100];
  row["health calls"] = size;
  row["health p50, ms"] = size == 0 ? 0 : milliseconds_[size / 2];
  row["health p99, ms"] = p99;
  return p99;
}

}  // namespace hone::bench
