#ifndef HONE_TESTS_DAEMON_ACCESS_FLOOD_H_
#define HONE_TESTS_DAEMON_ACCESS_FLOOD_H_

#include <list>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

namespace hone::testing {

// Many unary calls at the same time.
class Flood {
 public:
  explicit Flood(std::shared_ptr<grpc::Channel> channel)
      : stub_(std::move(channel)) {}

  void Call(const std::string& method, const std::string& request,
            const std::string& token = "") {
    Pending& call = calls_.emplace_back();
    if (!token.empty()) {
      call.context.AddMetadata("authorization", absl::StrCat("Bearer ", token));
    }
    const grpc::Slice slice(request);
    const grpc::ByteBuffer message(&slice, 1);
    call.reader =
        stub_.PrepareUnaryCall(&call.context, method, message, &queue_);
    call.reader->StartCall();
    call.reader->Finish(&call.response, &call.status, &call);
  }

  // Waits for the end of the next call, whichever it is.
  grpc::Status Next() {
    void* tag = nullptr;
    bool ok = false;
    queue_.Next(&tag, &ok);
    return static_cast<Pending*>(tag)->status;
  }

 private:
  struct Pending {
    grpc::ClientContext context;
    grpc::ByteBuffer response;
    grpc::Status status;
    std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
  };
  grpc::GenericStub stub_;
  grpc::CompletionQueue queue_;
  std::list<Pending> calls_;
};

}  // namespace hone::testing

#endif  // HONE_TESTS_DAEMON_ACCESS_FLOOD_H_
