#include <chrono>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/hash.h"
#include "tests/daemon/daemon_fixture.h"

namespace hone::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class CacheServiceTest : public DaemonTest {
 protected:
  CacheServiceTest() { Start(); }

  grpc::Status Lookup(const v1::LookupRequest& request,
                      v1::LookupResponse* response) {
    grpc::ClientContext context;
    return cache_->Lookup(&context, request, response);
  }
};

TEST_F(CacheServiceTest, LookupFindsByFingerprintAndByDigest) {
  const v1::Record record = TuneToEnd(kModule);
  v1::LookupRequest request;
  request.set_module_fingerprint(record.key().module_fingerprint());
  v1::LookupResponse response;
  HONE_EXPECT_GRPC_OK(Lookup(request, &response));
  EXPECT_EQ(response.record().DebugString(), record.DebugString());
  // The second lookup is answered from memory.
  response.Clear();
  HONE_EXPECT_GRPC_OK(Lookup(request, &response));
  EXPECT_EQ(response.record().DebugString(), record.DebugString());

  request.set_module_digest(Sha256Hex(kModule));
  response.Clear();
  HONE_EXPECT_GRPC_OK(Lookup(request, &response));
  EXPECT_EQ(response.record().DebugString(), record.DebugString());
  EXPECT_EQ(Metric("hone_cache_requests_total{result=\"hit\"}"), 3);
}

// Without a worker the target is unknown. That is said at once: an answer that
// waited for a worker would keep every other call waiting.
TEST_F(CacheServiceTest, ALookupOfAKernelDoesNotWaitForAWorker) {
  v1::LookupRequest request;
  request.set_module_fingerprint("f");
  request.set_task("kernel");
  v1::LookupResponse response;
  grpc::ClientContext context;
  // Less than the fleet waits for a device.
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(10));
  const grpc::Status status = cache_->Lookup(&context, request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_THAT(status.error_message(), HasSubstr("no worker offers"));
}

TEST_F(CacheServiceTest, AMissSaysWhichComponentDiffers) {
  v1::LookupRequest request;
  request.set_module_fingerprint("f");
  v1::LookupResponse response;
  grpc::Status status = Lookup(request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(ErrorInfoOf(status).reason(), "CACHE_MISS");
  EXPECT_EQ(ErrorInfoOf(status).metadata().at("miss_reason"), "empty");

  const v1::Record record = TuneToEnd(kModule);
  status = Lookup(request, &response);
  EXPECT_EQ(ErrorInfoOf(status).metadata().at("miss_reason"),
            "module_fingerprint");
  request.set_module_fingerprint(record.key().module_fingerprint());
  request.mutable_options()->mutable_pass_order()->set_score(
      v1::PassOrderOptions::XLA);
  status = Lookup(request, &response);
  EXPECT_EQ(ErrorInfoOf(status).metadata().at("miss_reason"), "task_options");
  EXPECT_EQ(Metric("hone_cache_misses_total{reason=\"task_options\"}"), 1);
}

TEST_F(CacheServiceTest, BadLookupsAreExplained) {
  v1::LookupResponse response;
  v1::LookupRequest request;
  grpc::Status status = Lookup(request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  request.set_module_digest(Sha256Hex("nothing"));
  status = Lookup(request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(ErrorInfoOf(status).reason(), "MODULE_UNKNOWN");
  request.set_module_fingerprint("f");
  request.set_task("knitting");
  status = Lookup(request, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("pass_order"));
}

TEST_F(CacheServiceTest, ExplainLookupComparesComponents) {
  const v1::Record record = TuneToEnd(kModule);
  v1::LookupRequest request;
  request.set_module_fingerprint(record.key().module_fingerprint());
  v1::ExplainLookupResponse response;
  {
    grpc::ClientContext context;
    HONE_EXPECT_GRPC_OK(cache_->ExplainLookup(&context, request, &response));
    EXPECT_TRUE(response.hit());
  }
  request.set_target("xla-gpu");
  grpc::ClientContext context;
  HONE_EXPECT_GRPC_OK(cache_->ExplainLookup(&context, request, &response));
  EXPECT_FALSE(response.hit());
  int different = 0;
  for (const auto& component : response.components()) {
    if (component.matches()) continue;
    ++different;
    EXPECT_EQ(component.name(), "target");
    EXPECT_EQ(component.asked(), "xla-gpu");
    EXPECT_EQ(component.found(), record.key().target());
  }
  EXPECT_EQ(different, 1);
}

TEST_F(CacheServiceTest, ListPagesThroughAllRecords) {
  for (int n = 1; n <= 3; ++n) TuneToEnd(NumberedModule(n));
  v1::ListRecordsRequest request;
  request.set_page_size(2);
  v1::ListRecordsResponse page;
  {
    grpc::ClientContext context;
    HONE_EXPECT_GRPC_OK(cache_->List(&context, request, &page));
  }
  ASSERT_EQ(page.records_size(), 2);
  request.set_page_token(page.next_page_token());
  grpc::ClientContext context;
  v1::ListRecordsResponse rest;
  HONE_EXPECT_GRPC_OK(cache_->List(&context, request, &rest));
  EXPECT_EQ(rest.records_size(), 1);
  EXPECT_EQ(rest.next_page_token(), "");
}

TEST_F(CacheServiceTest, ListRefusesBadPages) {
  for (const auto& [size, token] :
       {std::pair<int, const char*>{-1, ""}, {1, "forged"}}) {
    v1::ListRecordsRequest request;
    request.set_page_size(size);
    request.set_page_token(token);
    grpc::ClientContext context;
    v1::ListRecordsResponse response;
    EXPECT_EQ(cache_->List(&context, request, &response).error_code(),
              grpc::StatusCode::INVALID_ARGUMENT);
  }
}

TEST_F(CacheServiceTest, InvalidateNeedsAFilterOrAll) {
  const v1::Record record = TuneToEnd(kModule);
  v1::InvalidateRequest request;
  v1::InvalidateResponse response;
  {
    grpc::ClientContext context;
    EXPECT_EQ(cache_->Invalidate(&context, request, &response).error_code(),
              grpc::StatusCode::INVALID_ARGUMENT);
  }
  request.mutable_filter()->set_task("pass_order");
  grpc::ClientContext context;
  HONE_EXPECT_GRPC_OK(cache_->Invalidate(&context, request, &response));
  EXPECT_EQ(response.removed(), 1);
  v1::LookupRequest lookup;
  lookup.set_module_fingerprint(record.key().module_fingerprint());
  v1::LookupResponse found;
  EXPECT_EQ(Lookup(lookup, &found).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(CacheServiceTest, RecordsAreReadAndDeletedByName) {
  const v1::Record record = TuneToEnd(kModule);
  TuneToEnd(NumberedModule(1));
  EXPECT_THAT(record.name(), StartsWith("projects/default/records/"));
  v1::GetRecordRequest get;
  get.set_name(record.name());
  v1::Record found;
  {
    grpc::ClientContext context;
    HONE_EXPECT_GRPC_OK(cache_->GetRecord(&context, get, &found));
    EXPECT_EQ(found.DebugString(), record.DebugString());
  }
  v1::DeleteRecordRequest remove;
  remove.set_name(record.name());
  v1::DeleteRecordResponse removed;
  {
    grpc::ClientContext context;
    HONE_EXPECT_GRPC_OK(cache_->DeleteRecord(&context, remove, &removed));
  }
  v1::LookupRequest lookup;
  lookup.set_module_fingerprint(record.key().module_fingerprint());
  v1::LookupResponse response;
  EXPECT_EQ(Lookup(lookup, &response).error_code(),
            grpc::StatusCode::NOT_FOUND);
  grpc::ClientContext context;
  const grpc::Status again = cache_->DeleteRecord(&context, remove, &removed);
  EXPECT_EQ(again.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(ErrorInfoOf(again).metadata().at("name"), record.name());
  // The other record is still there.
  grpc::ClientContext list_context;
  v1::ListRecordsResponse list;
  HONE_EXPECT_GRPC_OK(cache_->List(&list_context, {}, &list));
  EXPECT_EQ(list.records_size(), 1);
}

TEST_F(CacheServiceTest, NamesOfRecordsAreChecked) {
  v1::GetRecordRequest request;
  v1::Record record;
  const auto get = [&](const std::string& name) {
    request.set_name(name);
    grpc::ClientContext context;
    return cache_->GetRecord(&context, request, &record).error_code();
  };
  EXPECT_EQ(get("records/1"), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(get("projects/default/tunings/1"),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(get("projects/default/records/1"), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(get("projects/other/records/1"), grpc::StatusCode::NOT_FOUND);
}

TEST_F(CacheServiceTest, StatsCount) {
  TuneToEnd(kModule);
  grpc::ClientContext context;
  v1::CacheStatsResponse stats;
  HONE_EXPECT_GRPC_OK(cache_->Stats(&context, {}, &stats));
  EXPECT_EQ(stats.records(), 1);
  EXPECT_EQ(stats.tunings(), 1);
  EXPECT_GT(stats.trials(), 0);
  EXPECT_GE(stats.modules(), 1);
  EXPECT_EQ(stats.misses(), 1);
}

}  // namespace
}  // namespace hone::testing
