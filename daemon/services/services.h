#ifndef HONE_DAEMON_SERVICES_SERVICES_H_
#define HONE_DAEMON_SERVICES_SERVICES_H_

#include <memory>

#include <grpcpp/impl/service_type.h>

#include "daemon/services/call.h"

namespace hone::daemon {

// The gRPC services. The members of `runtime` outlive them.
std::unique_ptr<grpc::Service> MakeAdminService(Runtime& runtime);
std::unique_ptr<grpc::Service> MakeCacheService(Runtime& runtime);
std::unique_ptr<grpc::Service> MakeCompileService(Runtime& runtime);
std::unique_ptr<grpc::Service> MakeEnvironmentService(Runtime& runtime);
std::unique_ptr<grpc::Service> MakeModuleService(Runtime& runtime);
std::unique_ptr<grpc::Service> MakeOperationsService(Runtime& runtime);
std::unique_ptr<grpc::Service> MakeTuningService(Runtime& runtime);
std::unique_ptr<grpc::Service> MakeWorkerService(Runtime& runtime);

}  // namespace hone::daemon

#endif  // HONE_DAEMON_SERVICES_SERVICES_H_
