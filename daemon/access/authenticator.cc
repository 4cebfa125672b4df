#include "daemon/access/authenticator.h"

#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include <spdlog/spdlog.h>

#include "base/status_macros.h"
#include "daemon/errors.h"
#include "daemon/limits.h"

namespace hone::daemon {
namespace {

constexpr absl::Duration kWatchPeriod = absl::Seconds(1);
constexpr absl::string_view kScheme = "Bearer ";

// Says which version of a file is there.
std::tuple<ino_t, off_t, int64_t, int64_t> VersionOf(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return {};
  // The time of the last change of content, mode or owner.
  return {status.st_ino, status.st_size, status.st_ctim.tv_sec,
          status.st_ctim.tv_nsec};
}

bool IsUnixSocket(absl::string_view peer) {
  return absl::StartsWith(peer, "unix:");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Authenticator>> Authenticator::Create(
    const std::string& token_file) {
  auto authenticator =
      std::unique_ptr<Authenticator>(new Authenticator(token_file));
  if (token_file.empty()) return authenticator;
  HONE_RETURN_IF_ERROR(authenticator->Reload());
  authenticator->watcher_ =
      std::thread([self = authenticator.get()] { self->Watch(); });
  return authenticator;
}

Authenticator::Authenticator(std::string token_file)
    : token_file_(std::move(token_file)) {}

Authenticator::~Authenticator() {
  {
    absl::MutexLock lock(&mu_);
    ending_ = true;
  }
  if (watcher_.joinable()) watcher_.join();
}

absl::Status Authenticator::Reload() {
  if (token_file_.empty()) return absl::OkStatus();
  HONE_ASSIGN_OR_RETURN(TokenTable table, TokenTable::Read(token_file_));
  absl::MutexLock lock(&mu_);
  tokens_ = std::make_shared<const TokenTable>(std::move(table));
  return absl::OkStatus();
}

void Authenticator::Watch() {
  auto version = VersionOf(token_file_);
  while (true) {
    {
      absl::MutexLock lock(&mu_);
      if (mu_.AwaitWithTimeout(absl::Condition(&ending_), kWatchPeriod)) return;
    }
    const auto now = VersionOf(token_file_);
    if (now == version) continue;
    version = now;
    if (const absl::Status status = Reload(); status.ok()) {
      spdlog::info("read the tokens again");
    } else {
      spdlog::error("the old tokens stay: {}", std::string(status.message()));
    }
  }
}

std::shared_ptr<const TokenTable> Authenticator::tokens() const {
  absl::MutexLock lock(&mu_);
  return tokens_;
}

const TokenTable::Client* Authenticator::Find(
    const TokenTable& table, const grpc::CallbackServerContext& context) const {
  const auto [first, last] =
      context.client_metadata().equal_range("authorization");
  // Two are as bad as none.
  if (first == last || std::next(first) != last) return nullptr;
  absl::string_view token(first->second.data(), first->second.size());
  if (!absl::StartsWithIgnoreCase(token, kScheme)) return nullptr;
  token.remove_prefix(kScheme.size());
  if (token.empty() || token.size() > size_t{kMaxTokenBytes}) return nullptr;
  return table.Find(token);
}

absl::Status Authenticator::Check(const grpc::CallbackServerContext& context,
                                  const Method& method) const {
  if (token_file_.empty() || IsUnixSocket(context.peer())) {
    return absl::OkStatus();
  }
  const std::shared_ptr<const TokenTable> table = tokens();
  const TokenTable::Client* client = Find(*table, context);
  if (client == nullptr) {
    return WithReason(
        absl::UnauthenticatedError(
            "no known token, expected metadata \"authorization: Bearer TOKEN\" "
            "(hone --token-file FILE)"),
        "UNAUTHENTICATED");
  }
  if (!client->roles.Has(method.role)) {
    return WithReason(
        absl::PermissionDeniedError(absl::StrCat(
            "the token \"", client->name, "\" may not call ", method.name,
            ", expected one with the role ", RoleName(method.role))),
        "PERMISSION_DENIED", {{"role", std::string(RoleName(method.role))}});
  }
  return absl::OkStatus();
}

std::string Authenticator::CallerOf(
    const grpc::CallbackServerContext& context) const {
  if (!token_file_.empty()) {
    const std::shared_ptr<const TokenTable> table = tokens();
    const TokenTable::Client* client = Find(*table, context);
    if (client != nullptr) return absl::StrCat("token:", client->name);
  }
  return "owner";
}

bool Authenticator::HasRole(const grpc::CallbackServerContext& context,
                            Role role) const {
  if (token_file_.empty() || IsUnixSocket(context.peer())) return true;
  const std::shared_ptr<const TokenTable> table = tokens();
  const TokenTable::Client* client = Find(*table, context);
  return client != nullptr && client->roles.Has(role);
}

std::string Authenticator::ClientOf(
    const grpc::CallbackServerContext& context) const {
  if (!token_file_.empty()) {
    const std::shared_ptr<const TokenTable> table = tokens();
    const TokenTable::Client* client = Find(*table, context);
    if (client != nullptr) return absl::StrCat("token:", client->name);
  }
  std::string peer = context.peer();
  return IsUnixSocket(peer) ? peer : peer.substr(0, peer.rfind(':'));
}

}  // namespace hone::daemon
