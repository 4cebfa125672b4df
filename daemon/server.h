#ifndef HONE_DAEMON_SERVER_H_
#define HONE_DAEMON_SERVER_H_

#include <memory>
#include <string>

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
  // Opens both ports, resumes the tunings that `store` holds unfinished, and
  // serves. Environments expire by `clock`, which outlives the server.
  // Errors: InvalidArgument for a bad configuration; Unavailable if a port is
  // taken; those of the store.
  static absl::StatusOr<std::unique_ptr<Server>> Start(
      const Config& config, std::unique_ptr<storage::Store> store,
      const Clock& clock = SystemClock());
  // Drains without delay and waits for the end of all work.
  virtual ~Server() = default;

  // The listening addresses: "127.0.0.1:7420".
  virtual std::string grpc_address() const = 0;
  virtual std::string http_address() const = 0;

  // Shuts down without losing work: health turns NOT_SERVING; after drain_delay
  // new tunings are refused, running ones are asked to stop, and every watcher
  // gets a last message; calls have drain_grace to end and are then cancelled.
  // Returns true if all tunings have stopped. The others are in the store and
  // will be resumed, whatever happens to the process.
  virtual bool Drain() = 0;
};

// Opens the store of the configuration.
// Errors: those of SqliteStore::Create.
absl::StatusOr<std::unique_ptr<storage::Store>> OpenStore(const Config& config);

}  // namespace hone::daemon

#endif  // HONE_DAEMON_SERVER_H_
