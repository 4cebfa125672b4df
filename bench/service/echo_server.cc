#include "bench/service/echo_server.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace hone::bench {

class EchoServer::Service final : public v1::CacheService::CallbackService {
 public:
  explicit Service(v1::LookupResponse response)
      : response_(std::move(response)) {}

  grpc::ServerUnaryReactor* Lookup(grpc::CallbackServerContext* context,
                                   const v1::LookupRequest*,
                                   v1::LookupResponse* response) override {
    *response = response_;
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

 private:
  const v1::LookupResponse response_;
};

EchoServer::EchoServer(v1::LookupResponse response)
    : service_(std::make_unique<Service>(std::move(response))) {}

EchoServer::~EchoServer() = default;

absl::StatusOr<std::unique_ptr<EchoServer>> EchoServer::Start(
    const std::string& address,
    const std::shared_ptr<grpc::ServerCredentials>& credentials,
    v1::LookupResponse response) {
  std::unique_ptr<EchoServer> echo(new EchoServer(std::move(response)));
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, credentials, &port);
  builder.RegisterService(echo->service_.get());
  echo->server_ = builder.BuildAndStart();
  if (echo->server_ == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("cannot start the echo server on ", address));
  }
  echo->address_ = absl::StartsWith(address, "unix:")
                       ? address
                       : absl::StrCat("localhost:", port);
  return echo;
}

}  // namespace hone::bench
