#include "bench/faults/slow_call.h"

#include <utility>

namespace hone::bench {

SlowCall::SlowCall(std::shared_ptr<grpc::Channel> channel,
                   const std::string& path, const std::string& message)
    : stub_(std::move(channel)) {
  const grpc::Slice slice(message);
  message_ = grpc::ByteBuffer(&slice, 1);
  stub_.PrepareBidiStreamingCall(&context_, path, {}, this);
  StartWrite(&message_);
  StartCall();
}

SlowCall::~SlowCall() {
  context_.TryCancel();
  done_.WaitForNotification();
}

std::optional<grpc::Status> SlowCall::end() const {
  if (!done_.HasBeenNotified()) return std::nullopt;
  return status_;
}

void SlowCall::OnDone(const grpc::Status& status) {
  status_ = status;
  done_.Notify();
}

}  // namespace hone::bench
