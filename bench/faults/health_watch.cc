#include "bench/faults/health_watch.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "base/clock.h"
#include "bench/faults/methods.h"

namespace hone::bench {
namespace {

// In a shorter time, the slowest percent tells of the machine's other work.
constexpr absl::Duration kMinWatch = absl::Seconds(20);

}  // namespace

HealthWatch::HealthWatch(const DaemonProcess& daemon)
    : daemon_(daemon),
      start_(SystemClock().Monotonic()),
      thread_([this] { Watch(); }) {}

HealthWatch::~HealthWatch() {
  end_ = true;
  if (thread_.joinable()) thread_.join();
}

void HealthWatch::Watch() {
  grpc::GenericStub stub(daemon_.Connect());
  const char* const methods[] = {"/grpc.health.v1.Health/Check",
                                 "/hone.v1.AdminService/ListWorkers"};
  for (size_t i = 0; !end_; ++i) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::seconds(30));
    const absl::Duration start = SystemClock().Monotonic();
    failed_ += !CallMethod(stub, context, methods[i % 2], {""}).ok();
    milliseconds_.push_back(
        absl::ToDoubleMilliseconds(SystemClock().Monotonic() - start));
    absl::SleepFor(absl::Milliseconds(5));
  }
}

void HealthWatch::Report(nlohmann::ordered_json& row) {
  end_ = true;
  thread_.join();
  std::sort(milliseconds_.begin(), milliseconds_.end());
  const size_t size = milliseconds_.size();
  const double p99 = size == 0 ? 0 : milliseconds_[size * 99 / 100];
  row["health calls"] = size;
  row["health p50, ms"] = size == 0 ? 0 : milliseconds_[size / 2];
  row["health p99, ms"] = p99;
  row["health slowest, ms"] = size == 0 ? 0 : milliseconds_.back();
  if (SystemClock().Monotonic() - start_ >= kMinWatch && p99 > 50) {
    row["broken"].push_back("health took more than 50 ms (p99)");
  }
  if (failed_ > 0 || size == 0) {
    row["broken"].push_back(
        absl::StrCat("health failed ", failed_, " of ", size, " times"));
  }
}

}  // namespace hone::bench
