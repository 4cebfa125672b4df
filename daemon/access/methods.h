#ifndef HONE_DAEMON_ACCESS_METHODS_H_
#define HONE_DAEMON_ACCESS_METHODS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace hone::daemon {

// The permissions of a caller. Admin has all roles; tune has lookup, too.
enum class Role : uint8_t { kLookup = 1, kTune = 2, kWorker = 4, kAdmin = 8 };

// A set of roles.
class Roles {
 public:
  static Roles All();
  // Adds a role and those that it has.
  void Add(Role role);
  bool Has(Role role) const { return (bits_ & static_cast<int>(role)) != 0; }

 private:
  int bits_ = 0;
};

// The names of all roles, and the name of one: "lookup".
std::vector<std::string> RoleNames();
absl::string_view RoleName(Role role);

// The threads that run a method's handler. Each pool has its own, so that long
// calls delay neither lookups nor heartbeats, and calls that wait for a process
// of environments delay no others.
enum class PoolId { kControl, kLookup, kHeavy, kEnvironment };

// A line of the table in methods.cc.
struct Method {
  absl::string_view name;  // "hone.v1.CacheService/Lookup"
  // The role that a caller needs.
  Role role;
  PoolId pool;
  // The time after which the daemon ends a call; infinite if it never does.
  absl::Duration longest;
  // Calls of the method that may be open: waiting for a thread, running,
  // suspended or streaming.
  int max_open;
};

// All methods, by name.
absl::Span<const Method> Methods();
// Returns null for a method that is not served.
const Method* FindMethod(absl::string_view name);
// The services of the methods: "hone.v1.CacheService".
std::vector<std::string> ServiceNames();

}  // namespace hone::daemon

#endif  // HONE_DAEMON_ACCESS_METHODS_H_
