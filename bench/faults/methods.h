#ifndef HONE_BENCH_FAULTS_METHODS_H_
#define HONE_BENCH_FAULTS_METHODS_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include <google/protobuf/descriptor.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

namespace hone::bench {

// All methods of the daemon's own services, from the descriptors of the API.
std::vector<const google::protobuf::MethodDescriptor*> Methods();

// "/hone.v1.CacheService/Lookup".
std::string PathOf(const google::protobuf::MethodDescriptor& method);

// What a client does once it has sent its messages.
enum class Ending {
  kDecent,  // says that there are no more, and reads the answers
  kStalls,  // neither: the call ends when the daemon or its deadline ends it
};

// Calls any method with these messages, without generated code, and reads all
// answers, of which `last_answer`, if given, gets the last one. `context` can
// cancel it from another thread.
grpc::Status CallMethod(grpc::GenericStub& stub, grpc::ClientContext& context,
                        const std::string& path,
                        const std::vector<std::string>& messages,
                        std::string* last_answer = nullptr,
                        Ending ending = Ending::kDecent);

}  // namespace hone::bench

#endif  // HONE_BENCH_FAULTS_METHODS_H_
