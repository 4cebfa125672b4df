#include "bench/faults/good_modules.h"

#include "absl/strings/str_cat.h"
#include <grpcpp/grpcpp.h>

#include "base/status_macros.h"
#include "bench/faults/modules.h"
#include "hone/v1/compile_service.grpc.pb.h"
#include "proto/grpc_status.h"

namespace hone::bench {

absl::Status CompileGoodModules(const DaemonProcess& daemon, int64_t count) {
  const auto stub = v1::CompileService::NewStub(daemon.Connect());
  for (int64_t n = 1; n <= count; ++n) {
    v1::CompileRequest request;
    request.mutable_module()->set_content(NumberedModule(n));
    v1::TuningSpec& spec = *request.add_specs();
    spec.set_optimizer("random");
    spec.mutable_budget()->set_trials(5);
    request.mutable_patience()->set_seconds(60);
    v1::CompileResponse response;
    grpc::ClientContext context;
    HONE_RETURN_IF_ERROR(ToStatus(stub->Compile(&context, request, &response)));
    if (response.decisions_size() != 1 ||
        response.decisions(0).source() != v1::Decision::TUNED) {
      return absl::InternalError(
          absl::StrCat("not tuned: ", response.ShortDebugString()));
    }
  }
  return absl::OkStatus();
}

}  // namespace hone::bench
