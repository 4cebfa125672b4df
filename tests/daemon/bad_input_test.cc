// Every method refuses every kind of bad request with a status, a reason and
// no effect. bad_input_table.txt lists the requests.

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/text_format.h>
#include <grpcpp/generic/generic_stub.h>

#include "base/hash.h"
#include "daemon/access/methods.h"
#include "daemon/errors.h"
#include "hone/v1/worker_service.grpc.pb.h"
#include "tests/daemon/access/token_file.h"
#include "tests/daemon/daemon_fixture.h"

namespace hone::testing {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// A line of the table, or a request that is the same for all methods.
struct BadRequest {
  std::string method;
  std::string kind;
  std::string code;
  std::string reason;
  // The messages of the call, each in text format.
  std::vector<std::string> parts;
};

// The name of a resource of the API.
std::string ResourceName(absl::string_view collection, absl::string_view id) {
  return absl::StrCat("projects/default/", collection, "/", id);
}

// The bad names for a method whose field `name` is of `collection`.
void AddNames(const std::string& method, const std::string& collection,
              const std::string& rest, std::vector<BadRequest>& requests) {
  const std::string other =
      collection == "tunings" ? "environments" : "tunings";
  for (const std::string& name :
       {std::string(), std::string("x"), ResourceName(other, "x"),
        ResourceName(collection, ""), ResourceName(collection, "../etc/passwd"),
        ResourceName(collection, "a/b"), ResourceName(collection, "a\nb"),
        ResourceName(collection, std::string(100'000, 'a'))}) {
    requests.push_back(
        {method,
         "bad_name",
         "INVALID_ARGUMENT",
         "INVALID_FIELD",
         {absl::StrCat("name: \"", absl::CEscape(name), "\" ", rest)}});
  }
  requests.push_back({method,
                      "unknown_project",
                      "NOT_FOUND",
                      "NOT_FOUND",
                      {absl::StrCat("name: \"projects/other/", collection,
                                    "/none\" ", rest)}});
  requests.push_back(
      {method,
       "unknown_name",
       "NOT_FOUND",
       "NOT_FOUND",
       {absl::StrCat("name: \"", ResourceName(collection, "none"), "\" ",
                     rest)}});
}

std::vector<BadRequest> ReadTable() {
  std::ifstream file(
      absl::StrCat(HONE_SOURCE_DIR, "/tests/daemon/bad_input_table.txt"));
  std::vector<BadRequest> requests;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> words =
        absl::StrSplit(line, absl::MaxSplits(' ', 4));
    words.resize(5);
    if (words[1] == "names") {
      AddNames(words[0], words[2], absl::StrCat(words[3], " ", words[4]),
               requests);
      continue;
    }
    requests.push_back({words[0], words[1], words[2], words[3],
                        absl::StrSplit(words[4], " -- ")});
  }
  return requests;
}

const google::protobuf::MethodDescriptor* DescriptorOf(
    absl::string_view method) {
  return google::protobuf::DescriptorPool::generated_pool()->FindMethodByName(
      absl::StrReplaceAll(method, {{"/", "."}}));
}

// The kinds of bad requests that the fields of a message make possible.
void AddKinds(const Descriptor& message, bool is_top,
              std::set<std::string>& kinds) {
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    const std::string name(field.name());
    if (name == "name" || name == "id" || name == "worker_id") {
      kinds.insert("bad_name");
    } else if (name == "task") {
      kinds.insert("unknown_task");
    } else if (name == "optimizer") {
      kinds.insert("unknown_optimizer");
    } else if (name == "parent") {
      kinds.insert("bad_parent");
    } else if (name == "request_id") {
      kinds.insert("bad_request_id");
    } else if (name == "page_token") {
      kinds.insert("bad_page_token");
    } else if (is_top && absl::StrContains(name, "digest")) {
      kinds.insert("unknown_digest");
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_ENUM) {
      kinds.insert("unknown_enum");
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT32 ||
               field.cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
      kinds.insert("negative");
    } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      const Descriptor& part = *field.message_type();
      if (part.name() == "ModuleSource") {
        kinds.insert({"empty", "bad_module", "unknown_digest"});
      } else if (part.name() == "TaskOptions") {
        kinds.insert("bad_options");
      } else {
        AddKinds(part, false, kinds);
      }
    }
  }
}

class BadInputTest : public DaemonTest {
 protected:
  void StartWithTokens() {
    std::filesystem::create_directories(folder_.path());
    config_.tokens = absl::StrCat(folder_.path(), "/tokens");
    WriteTokens(
        config_.tokens,
        {{"admin", "admin"}, {"worker", "worker"}, {"lookup", "lookup"}});
    Start();
  }

  // Makes a call of any kind of method with these messages.
  grpc::Status Call(const std::string& method,
                    const std::vector<std::string>& messages,
                    const std::string& token) {
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    if (!token.empty()) {
      context.AddMetadata("authorization", "Bearer " + token);
    }
    grpc::CompletionQueue queue;
    const auto await = [&] {
      void* tag = nullptr;
      bool ok = false;
      queue.Next(&tag, &ok);
      return ok;
    };
    int tag = 0;
    const auto call = stub.PrepareCall(&context, "/" + method, &queue);
    call->StartCall(&tag);
    bool open = await();
    for (const std::string& message : messages) {
      if (!open) break;
      const grpc::Slice slice(message);
      call->Write(grpc::ByteBuffer(&slice, 1), &tag);
      open = await();
    }
    if (open) {
      call->WritesDone(&tag);
      await();
    }
    grpc::ByteBuffer response;
    do {
      call->Read(&response, &tag);
    } while (await());
    grpc::Status status;
    call->Finish(&status, &tag);
    await();
    return status;
  }

  std::vector<std::string> Serialize(const BadRequest& request) {
    std::vector<std::string> messages;
    for (const std::string& part : request.parts) {
      const std::string text = absl::StrReplaceAll(part, placeholders_);
      google::protobuf::DynamicMessageFactory factory;
      const std::unique_ptr<google::protobuf::Message> message(
          factory.GetPrototype(DescriptorOf(request.method)->input_type())
              ->New());
      EXPECT_TRUE(
          google::protobuf::TextFormat::ParseFromString(text, message.get()))
          << request.method << ": " << part;
      messages.push_back(message->SerializeAsString());
    }
    // An empty line of a stream sends nothing.
    if (messages == std::vector<std::string>{""} &&
        DescriptorOf(request.method)->client_streaming()) {
      messages.clear();
    }
    return messages;
  }

  void Expect(const BadRequest& request,
              const std::vector<std::string>& messages,
              const std::string& token) {
    SCOPED_TRACE(absl::StrCat(
        request.method, " ", request.kind, " ",
        request.parts.empty() ? "" : request.parts[0].substr(0, 100)));
    const std::string before = Snapshot();
    const grpc::Status status = Call(request.method, messages, token);
    EXPECT_EQ(daemon::CodeName(status.error_code()), request.code)
        << status.error_message();
    if (!status.ok()) {
      EXPECT_EQ(ErrorInfoOf(status).reason(), request.reason)
          << status.error_message();
    }
    EXPECT_EQ(Snapshot(), before);
  }

  // All that a request could change, as text. What calls hold is given back
  // once they are gone, which is after their answers.
  std::string Snapshot() {
    while (Metric("hone_limit_used{limit=\"max_bytes_in_flight\"}") > 0) {
      std::this_thread::yield();
    }
    grpc::ClientContext context;
    context.AddMetadata("authorization", "Bearer secret-admin");
    v1::CacheStatsResponse stats;
    HONE_EXPECT_GRPC_OK(cache_->Stats(&context, {}, &stats));
    std::string text = absl::StrCat(
        "records ", stats.records(), ", tunings ", stats.tunings(), ", trials ",
        stats.trials(), ", modules ", stats.modules());
    for (const char* gauge :
         {"hone_queue_depth", "hone_tunings_active{state=\"running\"}",
          "hone_tunings_active{state=\"pending\"}", "hone_environments_open",
          "hone_workers", "hone_modules_quarantined"}) {
      absl::StrAppend(&text, ", ", gauge, " ", Metric(gauge));
    }
    return text;
  }

  // A daemon with a tuned module and an open environment.
  void Populate() {
    TuneToEnd(kModule);
    grpc::ClientContext context;
    v1::OpenEnvironmentRequest request;
    request.mutable_module()->set_content(std::string(kModule));
    v1::OpenEnvironmentResponse opened;
    HONE_EXPECT_GRPC_OK(
        environments_->OpenEnvironment(&context, request, &opened));
    const std::string& name = opened.environment().name();
    placeholders_ = {
        {"$GOOD", absl::CEscape(NumberedModule(7))},
        {"$BAD", absl::CEscape("HloModule m\n\nENTRY e {\n  ROOT x = \n}\n")},
        {"$DIGEST", Sha256Hex(kModule)},
        {"$NONE", Sha256Hex("none")},
        {"$FP", std::string(64, 'f')},
        {"$LONG", std::string(100'000, 'a')},
        {"$environments/$ENV", name},
        {"$operations/none", ResourceName("operations", "none")}};
  }

  const TemporaryDirectory folder_;
  std::vector<std::pair<std::string, std::string>> placeholders_;
};

TEST_F(BadInputTest, EveryMethodHasTheKindsThatItsFieldsNeed) {
  std::map<std::string, std::set<std::string>> listed;
  for (const BadRequest& request : ReadTable()) {
    ASSERT_NE(DescriptorOf(request.method), nullptr) << request.method;
    listed[request.method].insert(request.kind);
  }
  for (const daemon::Method& method : daemon::Methods()) {
    const auto* descriptor = DescriptorOf(method.name);
    ASSERT_NE(descriptor, nullptr) << method.name;
    std::set<std::string> needed;
    AddKinds(*descriptor->input_type(), true, needed);
    for (const std::string& kind : needed) {
      EXPECT_TRUE(listed[std::string(method.name)].contains(kind))
          << method.name << " has no line of kind " << kind;
    }
  }
}

TEST_F(BadInputTest, EveryLineOfTheTableIsRefusedWithoutEffect) {
  // Backups and checks need a store on disk.
  StartOnDisk(folder_.path());
  Populate();
  for (const BadRequest& request : ReadTable()) {
    Expect(request, Serialize(request), "");
  }
}

TEST_F(BadInputTest, WhatCannotBeReadIsRefusedWithoutEffect) {
  Start();
  for (const daemon::Method& method : daemon::Methods()) {
    const std::string name(method.name);
    // A field of 127 bytes, of which one is there. gRPC answers by itself, and
    // so without a reason; a stream has its reactor by then.
    const BadRequest request =
        DescriptorOf(name)->client_streaming()
            ? BadRequest{name,
                         "undecodable",
                         "INVALID_ARGUMENT",
                         "INVALID_FIELD",
                         {}}
            : BadRequest{name, "undecodable", "UNIMPLEMENTED", "", {}};
    Expect(request, {"\x0a\x7fx"}, "");
  }
}

TEST_F(BadInputTest, WhatIsTooLargeIsRefusedWithoutEffect) {
  Start();
  // A field that no message has.
  const std::string large = absl::StrCat("\xfa\x3e\x81\x80\x80\x08",
                                         std::string((16 << 20) + 1, 'x'));
  for (const daemon::Method& method : daemon::Methods()) {
    // Only unary calls have the limit; streams have gRPC's own.
    if (DescriptorOf(method.name)->client_streaming() ||
        DescriptorOf(method.name)->server_streaming()) {
      continue;
    }
    Expect({std::string(method.name),
            "too_large",
            "RESOURCE_EXHAUSTED",
            "MESSAGE_TOO_LARGE",
            {}},
           {large}, "");
  }
}

TEST_F(BadInputTest, CallersWithoutTheRoleAreRefusedWithoutEffect) {
  StartWithTokens();
  for (const daemon::Method& method : daemon::Methods()) {
    const std::string name(method.name);
    Expect({name, "no_token", "UNAUTHENTICATED", "UNAUTHENTICATED", {}}, {""},
           "");
    Expect({name, "bad_token", "UNAUTHENTICATED", "UNAUTHENTICATED", {}}, {""},
           "secret-nobody");
    const bool is_workers = method.role == daemon::Role::kWorker;
    if (method.role == daemon::Role::kLookup) continue;
    Expect({name, "wrong_role", "PERMISSION_DENIED", "PERMISSION_DENIED", {}},
           {""}, is_workers ? "secret-lookup" : "secret-worker");
  }
}

}  // namespace
}  // namespace hone::testing
