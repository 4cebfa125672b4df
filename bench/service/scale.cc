#include "bench/service/scale.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <httplib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/status_macros.h"
#include "bench/service/daemon_process.h"
#include "bench/service/fill_store.h"
#include "bench/service/lookup_load.h"
#include "tuning/registry.h"
#include "tuning/task.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kRounds = 5;
constexpr int kScrapes = 20;
// Records of other targets, options and versions of the space, which a miss
// must not search: every second one.
constexpr int64_t kContexts = 24;

std::string Fingerprint(int64_t n) {
  return Sha256Hex(absl::StrCat("module ", n));
}

storage::Record InContext(storage::Record record, int64_t n) {
  record.key.module_fingerprint = Fingerprint(n);
  if (n % 2 == 0) return record;
  const int64_t context = n / 2 % kContexts;
  record.key.target = absl::StrCat("target-", context % 3);
  record.key.task_options =
      absl::StrCat("score=ops;numerics=", context / 3 % 4);
  record.key.space_version = absl::StrCat(context / 12, ":cse,dce");
  return record;
}

// A honed with a number of records, and what was measured of it.
struct Side {
  Side(int64_t count, const ServeOptions& options)
      : records(count), clients({daemon.address()}, options.clients) {}

  absl::Status Start(const storage::Record& sample) {
    HONE_RETURN_IF_ERROR(FillStore(daemon.state(), records, [&](int64_t n) {
      return InContext(sample, n);
    }));
    HONE_ASSIGN_OR_RETURN(const absl::Duration took, daemon.Start());
    start = took;
    return absl::OkStatus();
  }

  // Hits are of random records, misses of modules that nobody has tuned.
  absl::Status Measure(int64_t requests, Rng& rng, bool keep) {
    const auto stored = [&](int64_t) {
      const auto even = static_cast<uint64_t>((records + 1) / 2);
      return Fingerprint(2 * static_cast<int64_t>(rng.Below(even)));
    };
    const auto unknown = [&](int64_t) {
      return Sha256Hex(absl::StrCat("unknown ", rng.Next()));
    };
    HONE_ASSIGN_OR_RETURN(Load hit, clients.Measure(requests, stored));
    HONE_ASSIGN_OR_RETURN(
        Load miss,
        clients.Measure(requests, unknown, grpc::StatusCode::NOT_FOUND));
    if (!keep) return absl::OkStatus();
    hits.push_back(std::move(hit));
    misses.push_back(std::move(miss));
    return absl::OkStatus();
  }

  absl::StatusOr<double> SlowestScrapeMs() const {
    double slowest = 0;
    httplib::Client http("127.0.0.1", daemon.http_port());
    for (int i = 0; i < kScrapes; ++i) {
      const absl::Duration begin = SystemClock().Monotonic();
      const httplib::Result page = http.Get("/metrics");
      if (!page || page->status != 200) {
        return absl::UnavailableError("honed does not serve /metrics");
      }
      slowest = std::max(slowest, absl::ToDoubleMilliseconds(
                                      SystemClock().Monotonic() - begin));
    }
    return slowest;
  }

  absl::StatusOr<Json> Figures() const {
    HONE_ASSIGN_OR_RETURN(const double scrape, SlowestScrapeMs());
    return Json{{"records", records},
                {"start_seconds", absl::ToDoubleSeconds(start)},
                {"hit", Summary(hits)},
                {"miss", Summary(misses)},
                {"scrape_ms_max", scrape}};
  }

  const int64_t records;
  DaemonProcess daemon;
  const LookupClients clients;
  absl::Duration start;
  std::vector<Load> hits;
  std::vector<Load> misses;
};

}  // namespace

absl::StatusOr<storage::Record> MakeRecord(int64_t n) {
  HONE_ASSIGN_OR_RETURN(const tuning::Task* task,
                        tuning::FindTask("pass_order"));
  storage::Record record;
  record.key.module_fingerprint = Fingerprint(n);
  record.key.target = task->default_target();
  record.key.task = "pass_order";
  HONE_ASSIGN_OR_RETURN(record.key.task_options, task->OptionsKey({}));
  record.key.space_version = task->space_version();
  record.module_name = "jit_step";
  record.unit = "ops";
  record.default_cost = 4000;
  record.best_cost = 3600;
  Json passes = Json::array();
  for (int i = 0; i < 40; ++i) passes.push_back("tuple-simplifier");
  record.decision = Json{{"passes", passes}}.dump();
  record.tuned_module_digest = Sha256Hex("tuned");
  record.optimizer = "beam";
  record.trials = 500;
  record.verification.method = "evaluator: 2 random, 1 adversarial inputs";
  record.producer = "bench";
  record.created = SystemClock().Now();
  return record;
}

absl::StatusOr<Json> MeasureScale(const ServeOptions& options) {
  HONE_ASSIGN_OR_RETURN(const storage::Record sample, MakeRecord(0));
  Side empty(1, options);
  Side full(options.records, options);
  HONE_RETURN_IF_ERROR(empty.Start(sample));
  HONE_RETURN_IF_ERROR(full.Start(sample));
  Rng rng(1);
  // The first round warms up.
  for (int round = 0; round <= kRounds; ++round) {
    HONE_RETURN_IF_ERROR(empty.Measure(options.requests, rng, round > 0));
    HONE_RETURN_IF_ERROR(full.Measure(options.requests, rng, round > 0));
  }
  HONE_ASSIGN_OR_RETURN(Json of_one, empty.Figures());
  HONE_ASSIGN_OR_RETURN(Json of_all, full.Figures());
  const auto ratio = [&](const char* lookups) {
    return of_all[lookups]["p99_us"].get<double>() /
           of_one[lookups]["p99_us"].get<double>();
  };
  Json figures = {{"hit_p99_ratio", ratio("hit")},
                  {"miss_p99_ratio", ratio("miss")}};
  figures["empty"] = std::move(of_one);
  figures["full"] = std::move(of_all);
  return figures;
}

}  // namespace hone::bench
