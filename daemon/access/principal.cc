#include "daemon/access/principal.h"

#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/auth_context.h>

namespace hone::daemon {

std::string PrincipalOf(const Authenticator& authenticator,
                        const grpc::CallbackServerContext& context) {
  std::string client = authenticator.ClientOf(context);
  if (absl::StartsWith(client, "token:")) return client;
  if (absl::StartsWith(client, "unix:")) return "unix";
  const std::shared_ptr<const grpc::AuthContext> peer = context.auth_context();
  if (peer != nullptr && peer->IsPeerAuthenticated()) {
    for (const grpc::string_ref& name :
         peer->FindPropertyValues(GRPC_X509_SUBJECT_PROPERTY_NAME)) {
      return absl::StrCat("certificate:",
                          absl::string_view(name.data(), name.size()));
    }
  }
  return client;
}

}  // namespace hone::daemon
