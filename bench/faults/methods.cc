#include "bench/faults/methods.h"

#include "absl/strings/str_cat.h"
#include "google/longrunning/operations.pb.h"

#include "hone/v1/admin_service.pb.h"
#include "hone/v1/cache_service.pb.h"
#include "hone/v1/compile_service.pb.h"
#include "hone/v1/environment_service.pb.h"
#include "hone/v1/module_service.pb.h"
#include "hone/v1/tuning_service.pb.h"
#include "hone/v1/worker_service.pb.h"

namespace hone::bench {

std::vector<const google::protobuf::MethodDescriptor*> Methods() {
  std::vector<const google::protobuf::MethodDescriptor*> methods;
  for (const google::protobuf::FileDescriptor* file :
       {google::longrunning::Operation::descriptor()->file(),
        v1::GetServerInfoRequest::descriptor()->file(),
        v1::LookupRequest::descriptor()->file(),
        v1::CompileRequest::descriptor()->file(),
        v1::OpenEnvironmentRequest::descriptor()->file(),
        v1::UploadRequest::descriptor()->file(),
        v1::TuneRequest::descriptor()->file(),
        v1::SynchronizeRequest::descriptor()->file()}) {
    for (int i = 0; i < file->service_count(); ++i) {
      for (int k = 0; k < file->service(i)->method_count(); ++k) {
        methods.push_back(file->service(i)->method(k));
      }
    }
  }
  return methods;
}

std::string PathOf(const google::protobuf::MethodDescriptor& method) {
  return absl::StrCat("/", method.service()->full_name(), "/", method.name());
}

grpc::Status CallMethod(grpc::GenericStub& stub, grpc::ClientContext& context,
                        const std::string& path,
                        const std::vector<std::string>& messages,
                        std::string* last_answer, Ending ending) {
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareCall(&context, path, &queue);
  // One event at a time: there is no order to keep between tags.
  const auto next = [&] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  call->StartCall(nullptr);
  bool open = next();
  for (const std::string& message : messages) {
    if (!open) break;
    const grpc::Slice slice(message);
    call->Write(grpc::ByteBuffer(&slice, 1), nullptr);
    open = next();
  }
  open = open && ending == Ending::kDecent;
  if (open) {
    call->WritesDone(nullptr);
    open = next();
  }
  while (open) {
    grpc::ByteBuffer answer;
    call->Read(&answer, nullptr);
    open = next();
    grpc::Slice slice;
    if (open && last_answer != nullptr &&
        answer.DumpToSingleSlice(&slice).ok()) {
      last_answer->assign(reinterpret_cast<const char*>(slice.begin()),
                          slice.size());
    }
  }
  grpc::Status status;
  call->Finish(&status, nullptr);
  next();
  queue.Shutdown();
  next();
  return status;
}

}  // namespace hone::bench
