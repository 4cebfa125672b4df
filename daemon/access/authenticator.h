#ifndef HONE_DAEMON_ACCESS_AUTHENTICATOR_H_
#define HONE_DAEMON_ACCESS_AUTHENTICATOR_H_

#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include <grpcpp/server_context.h>
#include <sys/stat.h>

#include "daemon/access/methods.h"
#include "daemon/access/tokens.h"

namespace hone::daemon {

// Says who calls, and whether they may.
//
// Callers on the Unix socket have been checked when they connected, and have
// all roles. Others show a token. Without a file of tokens they have all roles,
// too: then the configuration lets the daemon listen on loopback only.
//
// Threads: thread-safe.
class Authenticator {
 public:
  // `token_file`: see TokenTable; empty: none. It is read again when it
  // changes; while it is bad, the old tokens stay.
  // Errors: those of TokenTable::Read.
  static absl::StatusOr<std::unique_ptr<Authenticator>> Create(
      const std::string& token_file);
  ~Authenticator();
  Authenticator(const Authenticator&) = delete;
  Authenticator& operator=(const Authenticator&) = delete;

  // Errors: Unauthenticated without a known token; PermissionDenied if the
  // caller does not have the method's role.
  absl::Status Check(const grpc::CallbackServerContext& context,
                     const Method& method) const;

  // Returns a name for the client, by which limits are shared: that of its
  // token, else its address without the port.
  std::string ClientOf(const grpc::CallbackServerContext& context) const;

  // Returns a name for the caller, to whom requests and shares of tunings
  // belong: that of its token. The others have one together, as all of them are
  // the owner: those on the Unix socket, and everyone without a file of tokens.
  std::string CallerOf(const grpc::CallbackServerContext& context) const;
  // Returns true if the caller has the role. Check has admitted the caller.
  bool HasRole(const grpc::CallbackServerContext& context, Role role) const;

  // Reads the file of tokens now. Errors: as Create; the old tokens stay.
  absl::Status Reload();

 private:
  explicit Authenticator(std::string token_file);
  void Watch();
  // Returns the caller's token in the table; null if there is none.
  const TokenTable::Client* Find(
      const TokenTable& table,
      const grpc::CallbackServerContext& context) const;
  std::shared_ptr<const TokenTable> tokens() const;

  const std::string token_file_;
  mutable absl::Mutex mu_;
  // Null without a file.
  std::shared_ptr<const TokenTable> tokens_ ABSL_GUARDED_BY(mu_);
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  std::thread watcher_;
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_ACCESS_AUTHENTICATOR_H_
