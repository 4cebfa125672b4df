#ifndef HONE_WORK_PARENT_H_
#define HONE_WORK_PARENT_H_

#include <atomic>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

#include "hone/internal/work.pb.h"

namespace hone::work {

// The program that this process works for, at the other end of two descriptors.
// If that program ends, so does this process, whatever it is doing.
// Threads: thread-safe.
class Parent {
 public:
  Parent(int from, int to);
  Parent(const Parent&) = delete;
  Parent& operator=(const Parent&) = delete;
  // Never ends: its thread reads as long as the process lives.
  ~Parent() = delete;

  // Waits for the next job.
  internal::Job NextJob();
  // Returns true if the present job is to end.
  bool stopped() const { return stopped_; }

  void Send(const internal::FromProcess& message);
  // Sends a call and waits for its answer. Errors: the answer's; Cancelled once
  // the job is to end.
  absl::StatusOr<internal::Answer> Ask(const internal::Call& call);

 private:
  void ReadMessages();
  void Receive(internal::ToProcess message);

  const int from_;
  const int to_;
  std::atomic<bool> stopped_ = false;
  absl::Mutex write_mu_;
  // Calls are made one at a time.
  absl::Mutex call_mu_;
  absl::Mutex mu_;
  std::deque<internal::Job> jobs_ ABSL_GUARDED_BY(mu_);
  std::optional<internal::Answer> answer_ ABSL_GUARDED_BY(mu_);
  std::thread reader_;
};

}  // namespace hone::work

#endif  // HONE_WORK_PARENT_H_
