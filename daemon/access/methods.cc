#include "daemon/access/methods.h"

#include <algorithm>

namespace hone::daemon {
namespace {

constexpr struct {
  Role role;
  absl::string_view name;
} kRoles[] = {{Role::kLookup, "lookup"},
              {Role::kTune, "tune"},
              {Role::kWorker, "worker"},
              {Role::kAdmin, "admin"}};

// Every method that the daemon serves; one that is not here cannot be served.
constexpr struct {
  absl::string_view name;
  Role role;
  PoolId pool;
  // After which the daemon ends the call, whatever deadline the client has
  // sent; 0: never, for streams that end with what they watch.
  int longest_seconds;
  int max_open;
} kMethods[] = {
    {"google.longrunning.Operations/CancelOperation", Role::kTune,
     PoolId::kControl, 30, 1024},
    {"google.longrunning.Operations/DeleteOperation", Role::kAdmin,
     PoolId::kControl, 30, 64},
    {"google.longrunning.Operations/GetOperation", Role::kLookup,
     PoolId::kLookup, 30, 2048},
    {"google.longrunning.Operations/ListOperations", Role::kLookup,
     PoolId::kLookup, 60, 256},
    {"google.longrunning.Operations/WaitOperation", Role::kLookup,
     PoolId::kLookup, 3600, 4096},
    {"hone.v1.AdminService/Backup", Role::kAdmin, PoolId::kHeavy, 3600, 4},
    {"hone.v1.AdminService/DrainWorker", Role::kAdmin, PoolId::kControl, 30,
     64},
    {"hone.v1.AdminService/GetServerInfo", Role::kLookup, PoolId::kControl, 30,
     1024},
    {"hone.v1.AdminService/ListQuarantinedModules", Role::kLookup,
     PoolId::kLookup, 60, 256},
    {"hone.v1.AdminService/ListWorkers", Role::kLookup, PoolId::kControl, 30,
     256},
    {"hone.v1.AdminService/ReleaseModule", Role::kAdmin, PoolId::kControl, 30,
     64},
    {"hone.v1.AdminService/ReleaseWorker", Role::kAdmin, PoolId::kControl, 30,
     64},
    {"hone.v1.CacheService/Check", Role::kAdmin, PoolId::kHeavy, 300, 4},
    {"hone.v1.CacheService/DeleteRecord", Role::kAdmin, PoolId::kHeavy, 60, 64},
    {"hone.v1.CacheService/ExplainLookup", Role::kLookup, PoolId::kLookup, 60,
     1024},
    {"hone.v1.CacheService/GetRecord", Role::kLookup, PoolId::kLookup, 30,
     2048},
    {"hone.v1.CacheService/Invalidate", Role::kAdmin, PoolId::kHeavy, 300, 16},
    {"hone.v1.CacheService/List", Role::kLookup, PoolId::kLookup, 60, 256},
    {"hone.v1.CacheService/Lookup", Role::kLookup, PoolId::kLookup, 30, 4096},
    {"hone.v1.CacheService/Stats", Role::kLookup, PoolId::kLookup, 60, 256},
    // Only waits for the background, and must not wait for a thread.
    {"hone.v1.CompileService/Compile", Role::kTune, PoolId::kLookup, 900, 2048},
    {"hone.v1.EnvironmentService/Close", Role::kTune, PoolId::kControl, 30,
     1024},
    {"hone.v1.EnvironmentService/Fork", Role::kTune, PoolId::kEnvironment, 300,
     1024},
    {"hone.v1.EnvironmentService/GetSpaces", Role::kTune, PoolId::kLookup, 30,
     256},
    {"hone.v1.EnvironmentService/OpenEnvironment", Role::kTune,
     PoolId::kEnvironment, 300, 1024},
    {"hone.v1.EnvironmentService/Step", Role::kTune, PoolId::kEnvironment, 300,
     2048},
    {"hone.v1.EnvironmentService/StepBatch", Role::kTune, PoolId::kEnvironment,
     300, 256},
    {"hone.v1.ModuleService/Download", Role::kLookup, PoolId::kHeavy, 900, 256},
    {"hone.v1.ModuleService/GetModule", Role::kLookup, PoolId::kLookup, 60,
     256},
    {"hone.v1.ModuleService/QueryModules", Role::kLookup, PoolId::kLookup, 60,
     256},
    {"hone.v1.ModuleService/Upload", Role::kTune, PoolId::kHeavy, 900, 256},
    {"hone.v1.TuningService/CancelTuning", Role::kTune, PoolId::kControl, 30,
     1024},
    {"hone.v1.TuningService/GetTuning", Role::kLookup, PoolId::kLookup, 30,
     2048},
    {"hone.v1.TuningService/ListTunings", Role::kLookup, PoolId::kLookup, 60,
     256},
    {"hone.v1.TuningService/Tune", Role::kTune, PoolId::kHeavy, 300, 2048},
    {"hone.v1.TuningService/WatchTuning", Role::kLookup, PoolId::kLookup, 0,
     8192},
    {"hone.v1.WorkerService/ReadModule", Role::kWorker, PoolId::kHeavy, 300,
     1024},
    {"hone.v1.WorkerService/Synchronize", Role::kWorker, PoolId::kControl, 60,
     8192},
};

}  // namespace

Roles Roles::All() {
  Roles all;
  all.Add(Role::kAdmin);
  return all;
}

void Roles::Add(Role role) {
  bits_ |= static_cast<int>(role);
  if (role == Role::kAdmin) {
    for (const auto& known : kRoles) bits_ |= static_cast<int>(known.role);
  }
  if (role == Role::kTune) bits_ |= static_cast<int>(Role::kLookup);
}

std::vector<std::string> RoleNames() {
  std::vector<std::string> names;
  for (const auto& role : kRoles) names.emplace_back(role.name);
  return names;
}

absl::string_view RoleName(Role role) {
  return std::find_if(std::begin(kRoles), std::end(kRoles),
                      [&](const auto& known) { return known.role == role; })
      ->name;
}

absl::Span<const Method> Methods() {
  static const auto& methods = *[] {
    auto* table = new std::vector<Method>;
    for (const auto& line : kMethods) {
      table->push_back({.name = line.name,
                        .role = line.role,
                        .pool = line.pool,
                        .longest = line.longest_seconds == 0
                                       ? absl::InfiniteDuration()
                                       : absl::Seconds(line.longest_seconds),
                        .max_open = line.max_open});
    }
    return table;
  }();
  return methods;
}

const Method* FindMethod(absl::string_view name) {
  for (const Method& method : Methods()) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

std::vector<std::string> ServiceNames() {
  std::vector<std::string> services;
  for (const Method& method : Methods()) {
    std::string service(method.name.substr(0, method.name.find('/')));
    if (std::find(services.begin(), services.end(), service) ==
        services.end()) {
      services.push_back(std::move(service));
    }
  }
  return services;
}

}  // namespace hone::daemon
