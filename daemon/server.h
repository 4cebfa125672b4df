#ifndef HONE_DAEMON_SERVER_H_
#define HONE_DAEMON_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "base/clock.h"
#include "daemon/config.h"
#include "storage/store.h"

namespace hone::daemon {

// The daemon: gRPC and HTTP servers over a store, with its tuning executor.
// Threads: thread-safe.
class Server {
 public:
  // Opens the ports and sockets, resumes the tunings that `store` holds
  // unfinished, and serves. Environments expire by `clock`, which outlives the
  // server. Errors: InvalidArgument for a bad configuration; Unavailable if a
  // port or socket is taken; those of the store.
  static absl::StatusOr<std::unique_ptr<Server>> Start(
      const Config& config, std::unique_ptr<storage::Store> store,
      const Clock& clock = SystemClock());
  // Drains without delay and waits for the end of all work.
  virtual ~Server() = default;

  // The listening addresses: "unix:PATH" and "127.0.0.1:7420", in the order of
  // the configuration; the first of them.
  virtual std::vector<std::string> grpc_addresses() const = 0;
  std::string grpc_address() const { return grpc_addresses().front(); }
  virtual std::string http_address() const = 0;

  // Reads the file of tokens again. Errors: those of Authenticator::Reload.
  virtual absl::Status Reload() = 0;

  // Shuts down without losing work: health turns NOT_SERVING; after drain_delay
  // new tunings are refused, running ones are asked to stop, and every watcher
  // gets a last message; calls have drain_grace to end and are then cancelled.
  // Returns true if all tunings have stopped. The others are in the store and
  // will be resumed, whatever happens to the process.
  virtual bool Drain() = 0;
};

// Opens the store of the configuration. A state folder that does not exist is
// made for this user alone.
// Errors: those of SqliteStore::Create.
absl::StatusOr<std::unique_ptr<storage::Store>> OpenStore(const Config& config);

}  // namespace hone::daemon

#endif  // HONE_DAEMON_SERVER_H_
