#include "bench/faults/token_callers.h"

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "base/hash.h"
#include "bench/faults/documented_status.h"

namespace hone::bench {

absl::StatusOr<TokenCallers> TokenCallers::Create(
    const std::string& directory) {
  const std::string path = directory + "/tokens";
  std::ofstream tokens(path);
  TokenCallers callers;
  callers.callers_ = {{}, {.token = "unknown"}};
  for (const daemon::Role role :
       {daemon::Role::kLookup, daemon::Role::kTune, daemon::Role::kWorker,
        daemon::Role::kAdmin}) {
    const std::string name(daemon::RoleName(role));
    Caller& caller = callers.callers_.emplace_back();
    caller = {.token = "secret-" + name, .is_known = true};
    caller.roles.Add(role);
    tokens << name << " " << name << " " << Sha256Hex(caller.token) << "\n";
  }
  callers.config_path_ = directory + "/hone.toml";
  std::ofstream config(callers.config_path_);
  config << "[access]\ntokens = \"" << path << "\"\n";
  tokens.close();
  config.close();
  if (!tokens || !config) {
    return absl::UnavailableError(
        absl::StrCat("cannot write to '", directory, "'"));
  }
  // Others than the owner must not be able to write to it.
  std::filesystem::permissions(path, std::filesystem::perms::owner_read);
  return callers;
}

const TokenCallers::Caller& TokenCallers::Choose(Rng& rng) const {
  if (rng.Below(2) == 0) return callers_.back();
  return callers_[rng.Below(callers_.size() - 1)];
}

void ShowToken(const TokenCallers::Caller& caller,
               grpc::ClientContext& context) {
  if (caller.token.empty()) return;
  context.AddMetadata("authorization", "Bearer " + caller.token);
}

bool FitsRole(const grpc::Status& status, const std::string& path,
              const TokenCallers::Caller& caller) {
  if (IsOfGrpc(status)) return true;
  const daemon::Method* const method = daemon::FindMethod(path.substr(1));
  if (method == nullptr) return false;
  const bool unauthenticated =
      status.error_code() == grpc::StatusCode::UNAUTHENTICATED;
  const bool denied =
      status.error_code() == grpc::StatusCode::PERMISSION_DENIED &&
      absl::StrContains(status.error_message(), " may not call ");
  if (!caller.is_known) return unauthenticated;
  if (!caller.roles.Has(method->role)) return denied;
  return !unauthenticated && !denied;
}

}  // namespace hone::bench
