#include "bench/service/isolation.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "base/clock.h"
#include "base/status_macros.h"
#include "base/temporary_directory.h"
#include "base/thread_pool.h"
#include "bench/corpus.h"
#include "bench/service/lookup_load.h"
#include "hlo/read_module.h"
#include "storage/sqlite/sqlite_store.h"
#include "tuning/tuner.h"
#include "work/work_pool.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kSeeds = 5;

struct Timed {
  double seconds;
  double cost;
};

// Tunes `module` on a store of its own.
absl::StatusOr<Timed> Tune(const hlo::Module& module, uint64_t seed,
                           int64_t trials, ThreadPool& pool,
                           tuning::Searcher* searcher) {
  const TemporaryDirectory directory;
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<storage::SqliteStore> store,
                        storage::SqliteStore::Create(directory.path()));
  const tuning::TunerContext context{.store = store.get(),
                                     .clock = &SystemClock(),
                                     .pool = &pool,
                                     .searcher = searcher};
  tuning::TuningSpec spec;
  spec.budget.trials = trials;
  spec.seed = seed;
  const absl::Duration start = SystemClock().Monotonic();
  HONE_ASSIGN_OR_RETURN(const storage::Tuning tuning,
                        tuning::CreateTuning(context, spec, module));
  HONE_ASSIGN_OR_RETURN(const storage::Record record,
                        tuning::RunTuning(context, tuning.id));
  return Timed{absl::ToDoubleSeconds(SystemClock().Monotonic() - start),
               record.best_cost};
}

}  // namespace

absl::StatusOr<Json> MeasureIsolation(const ServeOptions& options) {
  std::error_code error;
  work::WorkPool processes(
      {.program = std::filesystem::read_symlink("/proc/self/exe", error)}, 1);
  HONE_RETURN_IF_ERROR(processes.Start());
  work::ProcessSearcher apart(processes, nullptr);
  ThreadPool pool(std::max(1U, std::thread::hardware_concurrency()));

  HONE_ASSIGN_OR_RETURN(const std::vector<CorpusEntry> corpus,
                        ReadCorpus(options.corpus, options.only));
  Json tunings = Json::array();
  std::vector<double> ratios;
  for (const CorpusEntry& entry : corpus) {
    HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                          hlo::ReadModuleFile(entry.path));
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      tuning::Searcher* const order[] = {seed % 2 == 0 ? &apart : nullptr,
                                         seed % 2 == 0 ? nullptr : &apart};
      Timed here{}, away{};
      for (tuning::Searcher* searcher : order) {
        HONE_ASSIGN_OR_RETURN(
            (searcher == nullptr ? here : away),
            Tune(module, seed, options.trials, pool, searcher));
      }
      if (here.cost != away.cost) {
        return absl::InternalError(absl::StrCat(
            entry.name, ", seed ", seed, ": cost ", here.cost,
            " in this process, ", away.cost, " in another, expected the same"));
      }
      ratios.push_back(away.seconds / here.seconds);
      tunings.push_back({{"module", entry.name},
                         {"seed", seed},
                         {"here_seconds", here.seconds},
                         {"apart_seconds", away.seconds},
                         {"ratio", ratios.back()}});
    }
  }
  return Json{{"trials", options.trials},
              {"ratio", Median(ratios)},
              {"ratio_min", *std::min_element(ratios.begin(), ratios.end())},
              {"ratio_max", *std::max_element(ratios.begin(), ratios.end())},
              {"tunings", std::move(tunings)}};
}

}  // namespace hone::bench
