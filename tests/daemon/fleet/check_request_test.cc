#include "daemon/fleet/check_request.h"

#include <functional>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "daemon/limits.h"
#include "proto/worker_protocol.h"
#include "tests/support/status_matchers.h"

namespace hone::daemon {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

v1::SynchronizeRequest Request() {
  v1::SynchronizeRequest request;
  request.set_worker_id("8f14e45f-ceea-467f-a8bc-1d3b5e9f0a77");
  request.set_protocol_version(kMaxWorkerProtocol);
  request.set_version("1");
  request.set_machine("node-7.example");
  v1::Device& device = *request.add_devices();
  device.set_kind("cpu");
  device.set_model("Some(R) Processor @ 3 GHz");
  device.set_isa("core +a,-b");
  device.set_fingerprint("cpu:0123456789abcdef");
  device.set_threads(2);
  device.mutable_machine()->set_l1_bytes(1 << 15);
  device.mutable_machine()->set_l2_bytes(1 << 19);
  device.mutable_machine()->set_cache_line_bytes(64);
  device.mutable_machine()->set_vector_bytes(32);
  device.mutable_machine()->set_vector_registers(16);
  request.add_capabilities("kernel");
  request.add_capabilities("of_the_future");
  request.set_state(v1::SynchronizeRequest::ACTIVE);
  v1::Lease& lease = *request.add_executing();
  lease.set_work_id("w");
  lease.set_fence(1);
  v1::Completion& completion = *request.add_completions();
  completion.mutable_lease()->set_work_id("w");
  completion.mutable_lease()->set_fence(1);
  completion.mutable_kernel()->add_candidates()->set_outcome(
      v1::KernelTiming::OK);
  return request;
}

TEST(CheckRequest, AcceptsWhatAWorkerSends) {
  HONE_EXPECT_OK(CheckRequest(Request()));
}

TEST(CheckRequest, NamesTheField) {
  const auto completion = [](v1::SynchronizeRequest& r) {
    return r.mutable_completions(0);
  };
  const struct {
    const char* field;
    std::function<void(v1::SynchronizeRequest&)> spoil;
  } cases[] = {
      {"worker_id", [](auto& r) { r.clear_worker_id(); }},
      {"worker_id", [](auto& r) { r.set_worker_id(std::string(129, 'a')); }},
      {"worker_id", [](auto& r) { r.set_worker_id("a\x1b[2J"); }},
      {"worker_id", [](auto& r) { r.set_worker_id("a, confirmed by b"); }},
      {"machine", [](auto& r) { r.set_machine("a/b"); }},
      {"devices.kind", [](auto& r) { r.mutable_devices(0)->clear_kind(); }},
      {"devices.fingerprint",
       [](auto& r) { r.mutable_devices(0)->clear_fingerprint(); }},
      {"devices.model",
       [](auto& r) { r.mutable_devices(0)->set_model("a\nb"); }},
      {"devices.isa",
       [](auto& r) {
         r.mutable_devices(0)->set_isa(std::string((16 << 10) + 1, 'a'));
       }},
      {"devices.threads",
       [](auto& r) { r.mutable_devices(0)->set_threads(0); }},
      {"devices.threads",
       [](auto& r) { r.mutable_devices(0)->set_threads(1025); }},
      {"devices.machine.l1_bytes",
       [](auto& r) { r.mutable_devices(0)->clear_machine(); }},
      {"devices.machine.l3_bytes",
       [](auto& r) {
         r.mutable_devices(0)->mutable_machine()->set_l3_bytes(
             std::numeric_limits<int64_t>::max());
       }},
      {"devices.machine.vector_bytes",
       [](auto& r) {
         r.mutable_devices(0)->mutable_machine()->set_vector_bytes(3);
       }},
      {"state", [](auto& r) { r.clear_state(); }},
      {"state",
       [](auto& r) {
         r.set_state(static_cast<v1::SynchronizeRequest::State>(4));
       }},
      {"version", [](auto& r) { r.set_version("1\n2"); }},
      {"devices", [](auto& r) { r.clear_devices(); }},
      {"devices",
       [](auto& r) {
         for (int i = 0; i < 64; ++i) *r.add_devices() = r.devices(0);
       }},
      {"capabilities", [](auto& r) { r.add_capabilities("a b"); }},
      {"capabilities",
       [](auto& r) {
         for (int i = 0; i < 32; ++i) r.add_capabilities("kernel");
       }},
      {"executing.work_id",
       [](auto& r) { r.mutable_executing(0)->clear_work_id(); }},
      {"executing.fence",
       [](auto& r) { r.mutable_executing(0)->set_fence(-1); }},
      {"executing.device",
       [](auto& r) { r.mutable_executing(0)->set_device(1); }},
      {"executing.device",
       [](auto& r) { *r.add_executing() = r.executing(0); }},
      {"completions.lease.device",
       [&](auto& r) { completion(r)->mutable_lease()->set_device(-1); }},
      {"longest_wait.seconds",
       [](auto& r) { r.mutable_longest_wait()->set_seconds(-1); }},
      {"longest_wait.nanos",
       [](auto& r) { r.mutable_longest_wait()->set_nanos(1'000'000'000); }},
      {"completions",
       [](auto& r) {
         for (int i = 0; i < kMaxCompletions; ++i) {
           *r.add_completions() = r.completions(0);
         }
       }},
      {"completions.lease.work_id",
       [&](auto& r) { completion(r)->clear_lease(); }},
      {"completions.error.message",
       [&](auto& r) {
         completion(r)->mutable_error()->set_message(
             std::string((16 << 10) + 1, 'a'));
       }},
      {"completions.error.details",
       [&](auto& r) { completion(r)->mutable_error()->add_details(); }},
      {"completions.kernel.candidates",
       [&](auto& r) {
         for (int i = 0; i < kMaxWorkCandidates; ++i) {
           completion(r)->mutable_kernel()->add_candidates();
         }
       }},
      {"completions.kernel.samples_ns",
       [&](auto& r) {
         for (int i = 0; i <= kMaxTimingSamples; ++i) {
           completion(r)->mutable_kernel()->mutable_baseline()->add_samples_ns(
               1);
         }
       }},
      {"completions.kernel.message",
       [&](auto& r) {
         completion(r)->mutable_kernel()->mutable_candidates(0)->set_message(
             std::string(4097, 'a'));
       }},
      {"completions.kernel.outcome",
       [&](auto& r) {
         completion(r)->mutable_kernel()->mutable_candidates(0)->set_outcome(
             static_cast<v1::KernelTiming::Outcome>(7));
       }},
      {"completions.kernel.outcome",
       [&](auto& r) {
         completion(r)
             ->mutable_kernel()
             ->mutable_candidates(0)
             ->clear_outcome();
       }},
      {"completions.kernel.calibration.levels",
       [&](auto& r) {
         for (int i = 0; i <= kMaxCalibrationLevels; ++i) {
           completion(r)->mutable_kernel()->mutable_calibration()->add_levels();
         }
       }},
      {"completions.kernel.workers",
       [&](auto& r) {
         completion(r)->mutable_kernel()->add_workers(std::string("a"));
       }},
      {"completions.kernel.machines",
       [&](auto& r) {
         completion(r)->mutable_kernel()->add_machines(std::string("a"));
       }},
  };
  for (const auto& bad : cases) {
    v1::SynchronizeRequest request = Request();
    bad.spoil(request);
    EXPECT_THAT(CheckRequest(request),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(absl::StrCat(bad.field, ": "))))
        << bad.field;
  }
}

TEST(CheckRequest, WithinTheWindowOfProtocolsAnyVersionOfHoneWorks) {
  v1::SynchronizeRequest request = Request();
  for (int version = kMinWorkerProtocol; version <= kMaxWorkerProtocol;
       ++version) {
    request.set_protocol_version(version);
    request.set_version("0.0.0-other");
    HONE_EXPECT_OK(CheckRequest(request));
  }
}

TEST(CheckRequest, AForeignProtocolIsShownInOneShortLine) {
  v1::SynchronizeRequest request = Request();
  request.set_protocol_version(kMaxWorkerProtocol + 1);
  request.set_version(std::string(1 << 20, '\n'));
  const absl::Status status = CheckRequest(request);
  EXPECT_THAT(
      status,
      StatusIs(absl::StatusCode::kFailedPrecondition,
               HasSubstr(absl::StrCat("speaks version ", kMaxWorkerProtocol + 1,
                                      " of the protocol, expected ",
                                      kMinWorkerProtocol, " to "))));
  EXPECT_LT(status.message().size(), 1000u);
}

}  // namespace
}  // namespace hone::daemon
