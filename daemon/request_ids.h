#ifndef HONE_DAEMON_REQUEST_IDS_H_
#define HONE_DAEMON_REQUEST_IDS_H_

#include <cstdint>
#include <functional>
#include <list>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

#include "base/hash.h"
#include "daemon/limits.h"

namespace hone::daemon {

// The answers to recent requests that have an id, so that a repeated request
// gets the first answer and does nothing. Ids belong to the caller that sent
// them. Bounded: answers that were asked for longest ago are forgotten first,
// beyond a number of each caller, and beyond a number and size of all.
// Threads: thread-safe.
class RequestIds {
 public:
  struct Limits {
    int64_t per_caller = kMaxRequestIdsPerCaller;
    int64_t total = kMaxRequestIds;
    // The bytes of answers. The newest is kept whatever its size.
    int64_t bytes = kMaxRememberedAnswerBytes;
  };

  RequestIds() : RequestIds(Limits()) {}
  explicit RequestIds(const Limits& limits) : limits_(limits) {}

  using Serve = std::function<absl::StatusOr<std::string>()>;
  using StopPredicate = std::function<bool()>;
  // Returns the answer to an earlier request of `caller` with this id, or that
  // of `serve`, which is remembered unless it is an error. Waits while another
  // thread serves the same request, until `stop`. digest: of the request.
  // Errors: AlreadyExists (REQUEST_ID_REUSED) if the digests differ;
  // ResourceExhausted (OVERLOADED) if too many others wait; Cancelled; those of
  // `serve`.
  absl::StatusOr<std::string> Once(absl::string_view caller,
                                   absl::string_view id,
                                   absl::string_view digest,
                                   const StopPredicate& stop,
                                   const Serve& serve);

 private:
  struct Entry {
    std::string key;  // caller and id
    std::string caller;
    std::string digest;
    bool is_answered = false;
    std::string answer = "";
  };
  using Entries = std::list<Entry>;

  void Forget(Entries::iterator entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Forgets answers until all limits hold.
  void Trim(const std::string& caller) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Forgets the oldest answer, of one caller unless that is empty, but not the
  // newest of all. Returns false if there is none.
  bool ForgetOldest(absl::string_view caller)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Limits limits_;
  absl::Mutex mu_;
  // Requests that wait for another, each with a thread.
  int waiting_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<std::string, int> waiting_of_caller_ ABSL_GUARDED_BY(mu_);
  Entries entries_ ABSL_GUARDED_BY(mu_);  // Last used first.
  absl::flat_hash_map<std::string, Entries::iterator> index_
      ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, int64_t> count_of_caller_
      ABSL_GUARDED_BY(mu_);
  int64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

// Checks an id: at most kMaxRequestIdBytes printable ASCII characters; empty is
// none. Errors: InvalidArgument (INVALID_FIELD).
absl::Status CheckRequestId(absl::string_view id);

// Answers a request by `serve`, which fills `response`, or as it was answered
// before if it has an id. Errors: those of CheckRequestId, RequestIds::Once and
// `serve`.
template <typename Request, typename Response>
absl::Status ServeOnce(RequestIds& ids, absl::string_view caller,
                       const Request& request, Response& response,
                       const RequestIds::StopPredicate& stop,
                       const std::function<absl::Status()>& serve) {
  if (absl::Status status = CheckRequestId(request.request_id());
      !status.ok()) {
    return status;
  }
  if (request.request_id().empty()) return serve();
  bool is_served = false;
  const absl::StatusOr<std::string> answer =
      ids.Once(caller, request.request_id(),
               Sha256Hex(Request::descriptor()->full_name() + "\n" +
                         request.SerializeAsString()),
               stop, [&]() -> absl::StatusOr<std::string> {
                 is_served = true;
                 if (absl::Status status = serve(); !status.ok()) return status;
                 return response.SerializeAsString();
               });
  if (!answer.ok()) return answer.status();
  if (!is_served && !response.ParseFromString(*answer)) {
    return absl::InternalError("an answer was remembered wrong");
  }
  return absl::OkStatus();
}

}  // namespace hone::daemon

#endif  // HONE_DAEMON_REQUEST_IDS_H_
