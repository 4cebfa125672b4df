#ifndef HONE_BENCH_FAULTS_SLOW_CALL_H_
#define HONE_BENCH_FAULTS_SLOW_CALL_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/synchronization/notification.h"
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/support/byte_buffer.h>

namespace hone::bench {

// A call that sends one message and then neither sends nor reads anything, on a
// connection of its own.
class SlowCall final
    : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  SlowCall(std::shared_ptr<grpc::Channel> channel, const std::string& path,
           const std::string& message);
  // Cancels the call, if the daemon has not ended it.
  ~SlowCall() override;
  SlowCall(const SlowCall&) = delete;
  SlowCall& operator=(const SlowCall&) = delete;

  // The end that the daemon gave the call before it was cancelled, if any.
  std::optional<grpc::Status> end() const;

 private:
  void OnDone(const grpc::Status& status) override;

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::ByteBuffer message_;
  grpc::Status status_;
  absl::Notification done_;
};

}  // namespace hone::bench

#endif  // HONE_BENCH_FAULTS_SLOW_CALL_H_
