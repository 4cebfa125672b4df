// Bits of the database that flip while honed is stopped: it starts or says why
// not, lists what is corrupt, and serves the rest, never a wrong result.

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include <grpcpp/grpcpp.h>

#include "base/rng.h"
#include "base/status_macros.h"
#include "base/temporary_directory.h"
#include "bench/faults/faults.h"
#include "bench/faults/tuning_load.h"
#include "bench/service/daemon_process.h"
#include "hone/v1/cache_service.grpc.pb.h"
#include "proto/grpc_status.h"

namespace hone::bench {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr size_t kResults = 100;

// The answer to a lookup, or none for a miss or an error that says so.
absl::StatusOr<std::string> Answer(v1::CacheService::Stub& cache,
                                   const std::string& fingerprint) {
  v1::LookupRequest request;
  request.set_module_fingerprint(fingerprint);
  v1::LookupResponse response;
  grpc::ClientContext context;
  HONE_RETURN_IF_ERROR(ToStatus(cache.Lookup(&context, request, &response)));
  return response.record().SerializeAsString();
}

void Flip(const std::string& path, uint64_t bits, Rng& rng) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  const uint64_t size = fs::file_size(path);
  for (uint64_t i = 0; i < bits; ++i) {
    const auto offset = static_cast<std::streamoff>(rng.Below(size));
    file.seekg(offset);
    const int byte = file.get() ^ (1 << rng.Below(8));
    file.seekp(offset);
    file.put(static_cast<char>(byte));
  }
}

// The number of corrupt items that a check lists.
absl::StatusOr<int64_t> CountListed(v1::CacheService::Stub& cache) {
  int64_t listed = 0;
  v1::CheckCacheRequest request;
  do {
    v1::CheckCacheResponse page;
    grpc::ClientContext context;
    HONE_RETURN_IF_ERROR(ToStatus(cache.Check(&context, request, &page)));
    listed += page.corrupt_size();
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return listed;
}

struct Counts {
  int64_t times = 0;
  int64_t refused = 0;   // starts
  int64_t served = 0;    // results
  int64_t missing = 0;   // results
  int64_t wrong = 0;     // results
  int64_t listed = 0;    // corrupt items
  int64_t unlisted = 0;  // times that results are missing, and nothing listed
  std::map<std::string, int64_t> codes;
};

absl::Status TryOnce(DaemonProcess& daemon,
                     const std::map<std::string, std::string>& answers,
                     Counts& counts, Json& broken) {
  ++counts.times;
  if (const absl::Status start = daemon.Start().status(); !start.ok()) {
    ++counts.refused;
    // As docs say for a store that cannot be used, not a crash.
    if (!absl::IsUnavailable(start) || daemon.exit_status() != 3 ||
        daemon.Errors().empty()) {
      broken.push_back(absl::StrCat("honed ended with status ",
                                    daemon.exit_status(), ": ",
                                    start.message()));
    }
    return absl::OkStatus();
  }
  const auto cache = v1::CacheService::NewStub(daemon.Connect());
  int64_t missing = 0;
  for (const auto& [fingerprint, answer] : answers) {
    const absl::StatusOr<std::string> now = Answer(*cache, fingerprint);
    if (now.ok()) {
      ++(*now == answer ? counts.served : counts.wrong);
    } else {
      ++missing;
      ++counts.codes[absl::StatusCodeToString(now.status().code())];
    }
  }
  HONE_ASSIGN_OR_RETURN(const int64_t listed, CountListed(*cache));
  counts.missing += missing;
  counts.listed += listed;
  counts.unlisted += missing > 0 && listed == 0;
  if (listed > 0 && daemon.Metric("hone_cache_corrupt_items_total") <= 0) {
    broken.push_back("corrupt items are listed and not counted");
  }
  if (!daemon.IsAlive()) broken.push_back("honed ended: " + daemon.Errors());
  return absl::OkStatus();
}

// Adds the counts of one kind of flips to a row: of one bit, or of many.
void Report(const std::string& kind, const Counts& counts, size_t results,
            Json& row) {
  row[kind] = {{"times", counts.times},
               {"starts refused, with a reason", counts.refused},
               {"results asked for", static_cast<int64_t>(results) *
                                         (counts.times - counts.refused)},
               {"served", counts.served},
               {"missing, by code", counts.codes},
               {"wrong", counts.wrong},
               {"corrupt items listed", counts.listed}};
  Json& broken = row["broken"];
  if (counts.wrong > 0) {
    broken.push_back(absl::StrCat(kind, ": ", counts.wrong, " wrong results"));
  }
  if (counts.unlisted > 0) {
    broken.push_back(
        absl::StrCat(kind, ": ", counts.unlisted,
                     " times results are missing and nothing is listed"));
  }
}

}  // namespace

absl::StatusOr<Json> FlipBits(const FaultOptions& options) {
  Json row = {{"fault", "bit-flips"}, {"broken", Json::array()}};
  TemporaryDirectory folder;
  const fs::path state = folder.path() + "/state";
  const fs::path good = folder.path() + "/good";
  DaemonProcess daemon({.state = state});
  HONE_RETURN_IF_ERROR(daemon.Start().status());
  std::map<std::string, std::string> answers;
  {
    TuningLoad load(daemon);
    while (load.published().size() < kResults && daemon.IsAlive()) {
      absl::SleepFor(absl::Milliseconds(20));
    }
    load.Stop();
    const auto cache = v1::CacheService::NewStub(daemon.Connect());
    for (const auto& [fingerprint, _] : load.published()) {
      HONE_ASSIGN_OR_RETURN(answers[fingerprint], Answer(*cache, fingerprint));
    }
  }
  daemon.Terminate();
  fs::copy(state, good, fs::copy_options::recursive);
  Rng rng(options.seed);
  Counts one;
  Counts many;
  for (int64_t i = 0; i < options.flips; ++i) {
    fs::remove_all(state);
    fs::copy(good, state, fs::copy_options::recursive);
    const bool flips_many = i % 4 == 3;
    Flip(state / "hone.db", flips_many ? 2 + rng.Below(199) : 1, rng);
    HONE_RETURN_IF_ERROR(
        TryOnce(daemon, answers, flips_many ? many : one, row["broken"]));
    daemon.Kill();
  }
  row["results"] = answers.size();
  Report("one bit", one, answers.size(), row);
  Report("2 to 200 bits", many, answers.size(), row);
  if (2 * (one.refused + many.refused) > options.flips ||
      one.served + many.served < one.missing + many.missing) {
    row["broken"].push_back("most results are not served");
  }
  return row;
}

}  // namespace hone::bench
