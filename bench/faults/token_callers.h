#ifndef HONE_BENCH_FAULTS_TOKEN_CALLERS_H_
#define HONE_BENCH_FAULTS_TOKEN_CALLERS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include <grpcpp/grpcpp.h>

#include "base/rng.h"
#include "daemon/access/methods.h"

namespace hone::bench {

// Clients of a daemon with tokens: one of each role, one without a token, and
// one whose token nobody knows.
class TokenCallers {
 public:
  struct Caller {
    std::string token = "";  // empty: none
    bool is_known = false;
    daemon::Roles roles = {};
  };

  // Writes the file of tokens and a configuration that names it to `directory`.
  // Errors: Unavailable if they cannot be written.
  static absl::StatusOr<TokenCallers> Create(const std::string& directory);

  // For honed's --config.
  const std::string& config_path() const { return config_path_; }

  // Every second time the admin, whose requests are looked at by every method.
  const Caller& Choose(Rng& rng) const;

 private:
  std::string config_path_;
  std::vector<Caller> callers_;  // the admin is the last one
};

// Has `context` show the caller's token.
void ShowToken(const TokenCallers::Caller& caller,
               grpc::ClientContext& context);

// Returns true if `status` may be the answer of a method with that path
// ("/hone.v1.CacheService/Lookup") to the caller: refused exactly if the caller
// has not the method's role. A field that needs another role, or the name of
// another's worker, is a matter of the method.
bool FitsRole(const grpc::Status& status, const std::string& path,
              const TokenCallers::Caller& caller);

}  // namespace hone::bench

#endif  // HONE_BENCH_FAULTS_TOKEN_CALLERS_H_
