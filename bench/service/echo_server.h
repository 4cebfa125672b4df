#ifndef HONE_BENCH_SERVICE_ECHO_SERVER_H_
#define HONE_BENCH_SERVICE_ECHO_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include <grpcpp/grpcpp.h>

#include "hone/v1/cache_service.grpc.pb.h"

namespace hone::bench {

// The least that a gRPC server can do: answers every lookup with the same
// response.
class EchoServer final {
 public:
  // Listens on "unix:PATH" or HOST:PORT, where port 0 takes any free one.
  // Errors: Unavailable.
  static absl::StatusOr<std::unique_ptr<EchoServer>> Start(
      const std::string& address,
      const std::shared_ptr<grpc::ServerCredentials>& credentials,
      v1::LookupResponse response);
  ~EchoServer();

  // As clients reach it.
  const std::string& address() const { return address_; }

 private:
  class Service;

  explicit EchoServer(v1::LookupResponse response);

  const std::unique_ptr<Service> service_;
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace hone::bench

#endif  // HONE_BENCH_SERVICE_ECHO_SERVER_H_
