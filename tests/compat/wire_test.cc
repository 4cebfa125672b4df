// Requests as clients of each version of the API send them, kept as bytes in
// tests/testdata/wire: the daemon must read and answer them as it did when they
// were written. A field whose number or type changes, or an RPC that is
// renamed, fails here. README.md there tells how to add samples.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <google/protobuf/descriptor.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <grpcpp/generic/generic_stub.h>

#include "daemon/access/methods.h"
#include "daemon/errors.h"
#include "hone/v1/worker_service.grpc.pb.h"
#include "tests/daemon/daemon_fixture.h"

namespace hone::testing {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::Message;

// Versions of the API, by their folders.
constexpr const char* kVersions[] = {"v1"};

struct Sample {
  std::string path;     // without the extension
  std::string method;   // "hone.v1.CacheService/Lookup"
  std::string message;  // "hone.v1.LookupRequest"
  std::string status;   // "NOT_FOUND"
  std::string text;
  std::string bytes;
};

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the value in a line "# KEY: VALUE".
std::string Comment(absl::string_view text, absl::string_view key) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, absl::StrCat("# ", key, ": "))) {
      return std::string(line);
    }
  }
  return "";
}

// Returns the method that a sample's file is named after, without a name that
// follows it: "hone.v1.CacheService.Lookup.kernel".
std::string MethodOf(const std::string& stem) {
  std::string longest;
  for (const daemon::Method& method : daemon::Methods()) {
    std::string name(method.name);
    std::replace(name.begin(), name.end(), '/', '.');
    if (stem == name || absl::StartsWith(stem, name + ".")) {
      longest = std::string(method.name);
    }
  }
  return longest;
}

std::vector<Sample> Samples(const std::string& version) {
  std::vector<Sample> samples;
  const std::filesystem::path folder =
      std::filesystem::path(HONE_WIRE_SAMPLES) / version;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".txtpb") continue;
    Sample sample;
    sample.path = (folder / entry.path().stem()).string();
    sample.method = MethodOf(entry.path().stem().string());
    sample.text = Read(entry.path().string());
    sample.bytes = Read(sample.path + ".bin");
    sample.message = Comment(sample.text, "message");
    sample.status = Comment(sample.text, "status");
    samples.push_back(std::move(sample));
  }
  std::sort(samples.begin(), samples.end(),
            [](const Sample& a, const Sample& b) { return a.path < b.path; });
  return samples;
}

class WireTest : public DaemonTest {
 protected:
  // Sends one message to a method, whether that streams or not; returns the
  // status of the call.
  grpc::Status Send(const std::string& method, const std::string& bytes) {
    grpc::GenericStub stub(channel_);
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    const auto await = [&queue] {
      void* tag = nullptr;
      bool ok = false;
      queue.Next(&tag, &ok);
      return ok;
    };
    auto call = stub.PrepareCall(&context, "/" + method, &queue);
    call->StartCall(nullptr);
    await();
    const grpc::Slice slice(bytes);
    if (call->Write(grpc::ByteBuffer(&slice, 1), nullptr), await()) {
      call->WritesDone(nullptr);
      await();
    }
    grpc::ByteBuffer response;
    while (call->Read(&response, nullptr), await()) {
    }
    grpc::Status status;
    call->Finish(&status, nullptr);
    await();
    return status;
  }
};

// Has the generated code of all services linked.
TEST_F(WireTest, EveryMethodHasSamples) {
  EXPECT_NE(v1::WorkerService::service_full_name(), nullptr);
  for (const char* version : kVersions) {
    std::set<std::string> sampled;
    for (const Sample& sample : Samples(version)) {
      EXPECT_NE(sample.method, "") << sample.path;
      sampled.insert(sample.method);
    }
    for (const daemon::Method& method : daemon::Methods()) {
      EXPECT_TRUE(sampled.contains(std::string(method.name))) << method.name;
    }
  }
}

TEST_F(WireTest, BytesParseToWhatTheyWere) {
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  google::protobuf::DynamicMessageFactory factory;
  for (const char* version : kVersions) {
    for (const Sample& sample : Samples(version)) {
      const auto* type = pool.FindMessageTypeByName(sample.message);
      ASSERT_NE(type, nullptr) << sample.path;
      std::string name = sample.method;
      std::replace(name.begin(), name.end(), '/', '.');
      const auto* method = pool.FindMethodByName(name);
      ASSERT_NE(method, nullptr) << name;
      EXPECT_EQ(method->input_type(), type) << sample.path;
      const std::unique_ptr<Message> parsed(factory.GetPrototype(type)->New());
      ASSERT_TRUE(parsed->ParseFromString(sample.bytes)) << sample.path;
      const std::unique_ptr<Message> written(factory.GetPrototype(type)->New());
      ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(sample.text,
                                                                written.get()))
          << sample.path;
      EXPECT_TRUE(
          google::protobuf::util::MessageDifferencer::Equals(*parsed, *written))
          << sample.path << "\n"
          << parsed->DebugString();
      EXPECT_EQ(parsed->SerializeAsString(), sample.bytes) << sample.path;
    }
  }
}

TEST_F(WireTest, TheDaemonAnswersAsDocumented) {
  Start();
  for (const char* version : kVersions) {
    for (const Sample& sample : Samples(version)) {
      const grpc::Status status = Send(sample.method, sample.bytes);
      EXPECT_EQ(daemon::CodeName(status.error_code()), sample.status)
          << sample.path << ": " << status.error_message();
    }
  }
}

}  // namespace
}  // namespace hone::testing
