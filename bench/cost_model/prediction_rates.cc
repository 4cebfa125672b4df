#include "bench/cost_model/prediction_rates.h"

#include <algorithm>
#include <cstddef>
#include <thread>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"

#include "base/clock.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "costmodels/kernel_graph.h"
#include "costmodels/tile_features.h"
#include "hlo/tiles/tiled_kernel.h"
#include "tuning/tasks/tile_surrogate.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kConfigs = 16;
constexpr int kRounds = 5;
constexpr size_t kSingles = 200;

// Measures the time since it was made.
class Timer {
 public:
  double Seconds() const {
    return absl::ToDoubleSeconds(SystemClock().Monotonic() - start_);
  }

 private:
  const absl::Duration start_ = SystemClock().Monotonic();
};

}  // namespace

// Graphs and features of kernels with at most so many configurations each.
class PredictionRates::Batch {
 public:
  Batch(const std::vector<Kernel>& kernels, const costmodels::TpuPeaks& peaks,
        size_t configs)
      : kernels_(kernels),
        peaks_(peaks),
        configs_(configs),
        graphs_(kernels.size()),
        features_(kernels.size()) {}

  void Make(ThreadPool& pool) {
    pool.ParallelFor(static_cast<int64_t>(kernels_.size()), /*grain=*/16,
                     [this](int64_t begin, int64_t end) {
                       for (int64_t i = begin; i < end; ++i) {
                         MakeKernel(static_cast<size_t>(i));
                       }
                     });
  }

  void MakeKernel(size_t index) {
    const Kernel& kernel = kernels_[index];
    graphs_[index] = costmodels::ObserveKernelGraph(*kernel.module);
    const hlo::TiledKernel tiled(*kernel.module);
    const costmodels::TileFeatures features(tiled, peaks_);
    features_[index].clear();
    const size_t count = std::min(configs_, kernel.configs.size());
    for (size_t i = 0; i < count; ++i) {
      features_[index].push_back(features.Of(kernel.configs[i]));
    }
  }

  // Of those of one kernel, or of all.
  std::vector<learning::CostQuery> QueriesOf(size_t index) const {
    std::vector<learning::CostQuery> queries;
    AddQueries(index, queries);
    return queries;
  }
  std::vector<learning::CostQuery> Queries() const {
    std::vector<learning::CostQuery> queries;
    for (size_t i = 0; i < kernels_.size(); ++i) AddQueries(i, queries);
    return queries;
  }

 private:
  void AddQueries(size_t index,
                  std::vector<learning::CostQuery>& queries) const {
    for (const std::vector<float>& config : features_[index]) {
      queries.push_back({&graphs_[index], config});
    }
  }

  const std::vector<Kernel>& kernels_;
  const costmodels::TpuPeaks peaks_;
  const size_t configs_;
  std::vector<space::Observation> graphs_;
  std::vector<std::vector<std::vector<float>>> features_;
};

void PredictionRates::Add(const TimedProgram& program) {
  for (const TimedTiles& kernel : program.kernels) {
    const size_t count = std::min(kConfigs, kernel.configs.size());
    kernels_.push_back(
        {kernel.module,
         {kernel.configs.begin(),
          kernel.configs.begin() + static_cast<ptrdiff_t>(count)}});
  }
}

absl::StatusOr<Json> PredictionRates::Measure(
    const costmodels::TpuPeaks& peaks, const learning::CostPredictor& model,
    std::ostream& out) const {
  const size_t processors = std::max(1U, std::thread::hardware_concurrency());
  ThreadPool pool(processors);
  Json batches = Json::array();
  out << absl::StrFormat(
      "\nPredictions of times on %d processors\n\n"
      "| batch | predictions | per second | with making features |\n"
      "|---|---|---|---|\n",
      processors);
  for (const size_t configs : {size_t{1}, kConfigs}) {
    Batch batch(kernels_, peaks, configs);
    std::vector<double> rates;
    std::vector<double> whole_rates;
    size_t count = 0;
    for (int round = 0; round < kRounds; ++round) {
      const Timer whole;
      batch.Make(pool);
      const Timer timer;
      const std::vector<learning::CostQuery> queries = batch.Queries();
      HONE_RETURN_IF_ERROR(
          model.Predict(tuning::kTpuTimeHead, queries).status());
      count = queries.size();
      rates.push_back(static_cast<double>(count) / timer.Seconds());
      whole_rates.push_back(static_cast<double>(count) / whole.Seconds());
    }
    const double rate = Median(rates);
    const double whole_rate = Median(whole_rates);
    out << absl::StrFormat(
        "| %d kernels, at most %d configurations each | %d | %.0f | %.0f |\n",
        kernels_.size(), configs, count, rate, whole_rate);
    batches.push_back({{"kernels", kernels_.size()},
                       {"configs_of_each", configs},
                       {"predictions", count},
                       {"per_second", rate},
                       {"per_second_with_features", whole_rate}});
  }
  // Single ones, of kernels all over the list.
  Batch batch(kernels_, peaks, 1);
  std::vector<double> ms;
  std::vector<double> whole_ms;
  const size_t singles = std::min(kSingles, kernels_.size());
  for (size_t i = 0; i < singles; ++i) {
    const size_t index = i * kernels_.size() / singles;
    const Timer whole;
    batch.MakeKernel(index);
    const Timer timer;
    const std::vector<learning::CostQuery> query = batch.QueriesOf(index);
    HONE_RETURN_IF_ERROR(model.Predict(tuning::kTpuTimeHead, query).status());
    constexpr double kMsPerSecond = 1000;
    ms.push_back(kMsPerSecond * timer.Seconds());
    whole_ms.push_back(kMsPerSecond * whole.Seconds());
  }
  const double one = Median(ms);
  const double whole_one = Median(whole_ms);
  out << absl::StrFormat(
      "\nOne prediction by itself: %.3f ms, %.3f ms with making features "
      "(medians of %d)\n",
      one, whole_one, singles);
  return Json{{"processors", processors},
              {"batches", std::move(batches)},
              {"one_ms", one},
              {"one_ms_with_features", whole_one}};
}

}  // namespace hone::bench
