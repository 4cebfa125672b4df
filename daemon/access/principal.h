#ifndef HONE_DAEMON_ACCESS_PRINCIPAL_H_
#define HONE_DAEMON_ACCESS_PRINCIPAL_H_

#include <string>

#include <grpcpp/server_context.h>

#include "daemon/access/authenticator.h"

namespace hone::daemon {

// Returns who calls, by the credential that was checked: "token:NAME", else
// "unix" for the Unix socket, which only this user and root can use, else
// "certificate:SUBJECT", else the address without the port, which anybody there
// shares.
std::string PrincipalOf(const Authenticator& authenticator,
                        const grpc::CallbackServerContext& context);

}  // namespace hone::daemon

#endif  // HONE_DAEMON_ACCESS_PRINCIPAL_H_
