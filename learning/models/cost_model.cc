#include "learning/models/cost_model.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <thread>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"

#include "base/status_macros.h"
#include "base/thread_pool.h"
#include "learning/models/weights_archive.h"
#include "learning/networks/cost_forward.h"
#include "learning/networks/cost_network.h"
#include "learning/networks/cost_regression.h"
#include "learning/networks/torch_threads.h"

namespace hone::learning {
namespace {

// The least deviation where a model learned nothing: by a factor of two.
constexpr float kUnknownDeviation = 0.69F;

// What one pass sees at most.
struct PartSize {
  size_t nodes;
  size_t samples;
};
// Torch's calls should be few; plain loops stay in the second-level cache.
constexpr PartSize kTorchPart = {4096, 4096};
constexpr PartSize kPlainPart = {384, 384};

using Part = std::vector<size_t>;  // indices of queries

// Returns the indices of queries in parts. Queries of one graph follow each
// other, in the order of their first ones.
std::vector<Part> Parts(absl::Span<const CostQuery> queries, CostJoin join,
                        PartSize most) {
  absl::flat_hash_map<const space::Observation*, size_t> first_seen;
  std::vector<size_t> rank(queries.size());
  for (size_t i = 0; i < queries.size(); ++i) {
    rank[i] = first_seen.try_emplace(queries[i].graph, i).first->second;
  }
  std::vector<size_t> order(queries.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return rank[a] < rank[b]; });
  std::vector<Part> parts;
  size_t nodes = 0;
  const space::Observation* last = nullptr;
  for (const size_t i : order) {
    const space::Observation* const graph = queries[i].graph;
    const size_t size = graph->node_kinds.size();
    const size_t added = join == CostJoin::kLate && graph == last ? 0 : size;
    if (parts.empty() || (added > 0 && nodes + added > most.nodes) ||
        parts.back().size() >= most.samples) {
      parts.emplace_back();
      nodes = size;
    } else {
      nodes += added;
    }
    last = graph;
    parts.back().push_back(i);
  }
  return parts;
}

}  // namespace

// Computes parts of predictions on several threads, and keeps what they need.
class CostModel::Runner {
 public:
  // Returns what `make` made last, since Clear was called.
  std::shared_ptr<const CostForward> Forward(
      const std::function<std::shared_ptr<const CostForward>()>& make) {
    absl::MutexLock lock(&mu_);
    if (forward_ == nullptr) forward_ = make();
    return forward_;
  }
  void Clear() {
    absl::MutexLock lock(&mu_);
    forward_ = nullptr;
  }

  // Calls body(part) for all parts, on all processors if there are several.
  void ForEach(const std::vector<Part>& parts,
               const std::function<void(const Part&)>& body) {
    if (parts.size() < 2) {
      for (const Part& part : parts) body(part);
      return;
    }
    Pool().ParallelFor(static_cast<int64_t>(parts.size()), 1,
                       [&](int64_t begin, int64_t end) {
                         for (int64_t i = begin; i < end; ++i) {
                           body(parts[static_cast<size_t>(i)]);
                         }
                       });
  }

 private:
  ThreadPool& Pool() {
    absl::MutexLock lock(&mu_);
    if (pool_ == nullptr) {
      pool_ = std::make_unique<ThreadPool>(
          std::max(1U, std::thread::hardware_concurrency()));
    }
    return *pool_;
  }

  absl::Mutex mu_;
  std::unique_ptr<ThreadPool> pool_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<const CostForward> forward_ ABSL_GUARDED_BY(mu_);
};

CostModel::CostModel(const CostSpec& spec, const CostOptions& options,
                     uint64_t seed)
    : spec_(spec), options_(options), runner_(std::make_unique<Runner>()) {
  WithSeed(seed, [&] {
    network_ = std::make_shared<CostNetworkImpl>(spec_, options_);
  });
}

CostModel::~CostModel() = default;

absl::StatusOr<std::unique_ptr<CostModel>> CostModel::Parse(
    absl::string_view bytes, const CostSpec& spec) {
  HONE_RETURN_IF_ERROR(CheckCostSpec(spec));
  return ParseWeights<CostModel>(bytes, &spec);
}

absl::StatusOr<std::unique_ptr<CostModel>> CostModel::ParseAsSaved(
    absl::string_view bytes) {
  return ParseWeights<CostModel, CostSpec>(bytes, nullptr);
}

std::string CostModel::Serialize() const {
  return SerializeWeights(spec_, options_, *network_);
}

std::unique_ptr<CostPredictor> CostModel::Clone() const {
  auto copy = std::make_unique<CostModel>(spec_, options_, 0);
  copy->CopyWeights(*this);
  return copy;
}

void CostModel::CopyWeights(const CostModel& other) {
  CopyParameters(*other.network_, *network_);
  network_->set_known(other.network_->known());
  WeightsChanged();
}

void CostModel::WeightsChanged() { runner_->Clear(); }

std::shared_ptr<const CostForward> CostModel::Forward() const {
  if (!CostForward::Supports(options_)) return nullptr;
  return runner_->Forward([this] {
    return std::make_shared<const CostForward>(PlainWeights(*network_));
  });
}

absl::StatusOr<CostPredictions> CostModel::Predict(
    int32_t head, absl::Span<const CostQuery> queries) const {
  if (head < 0 || static_cast<size_t>(head) >= spec_.heads.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cost model: head ", head, ", expected 0 to ", spec_.heads.size() - 1));
  }
  HONE_RETURN_IF_ERROR(CheckQueries(spec_, queries));
  const std::shared_ptr<const CostForward> forward = Forward();
  CostPredictions predictions = forward == nullptr
                                    ? PredictByTorch(head, queries)
                                    : PredictBy(*forward, head, queries);
  const KnownInputs& known = network_->known();
  // Most queries share a graph with the one before.
  const space::Observation* graph = nullptr;
  bool is_known_graph = false;
  for (size_t i = 0; i < queries.size(); ++i) {
    const float value = predictions.values[i];
    if (queries[i].graph != graph) {
      graph = queries[i].graph;
      is_known_graph = known.KnowGraph(*graph);
    }
    if (!is_known_graph || !known.KnowConfig(queries[i].config)) {
      predictions.deviations[i] =
          std::max(predictions.deviations[i], kUnknownDeviation);
    }
    if (!std::isfinite(value)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "cost model: predicts ", value,
          ", expected weights that make finite numbers of a kernel"));
    }
  }
  return predictions;
}

CostPredictions CostModel::PredictBy(
    const CostForward& forward, int32_t head,
    absl::Span<const CostQuery> queries) const {
  CostPredictions predictions;
  predictions.values.resize(queries.size());
  predictions.deviations.resize(queries.size());
  runner_->ForEach(
      Parts(queries, options_.join, kPlainPart), [&](const Part& part) {
        std::vector<CostQuery> own;
        own.reserve(part.size());
        for (const size_t i : part) own.push_back(queries[i]);
        std::vector<float> values(part.size()), deviations(part.size());
        forward.Predict(head, own, values.data(), deviations.data());
        for (size_t i = 0; i < part.size(); ++i) {
          predictions.values[part[i]] = values[i];
          predictions.deviations[part[i]] = deviations[i];
        }
      });
  return predictions;
}

CostPredictions CostModel::PredictByTorch(
    int32_t head, absl::Span<const CostQuery> queries) const {
  CostPredictions predictions;
  predictions.values.resize(queries.size());
  predictions.deviations.resize(queries.size());
  runner_->ForEach(
      Parts(queries, options_.join, kTorchPart), [&](const Part& part) {
        torch::InferenceMode inference;
        std::vector<CostQuery> own;
        own.reserve(part.size());
        for (const size_t i : part) own.push_back(queries[i]);
        const CostBatch batch = MakeCostBatch(own, spec_, options_.join);
        const torch::Tensor hidden = network_->Hidden(
            head, network_->Kernels(batch), batch,
            torch::arange(static_cast<int64_t>(own.size()), torch::kInt64));
        const torch::Tensor values =
            network_->Output(head, hidden).contiguous();
        const torch::Tensor deviations =
            network_->Deviation(head, hidden).contiguous();
        for (size_t i = 0; i < part.size(); ++i) {
          predictions.values[part[i]] = values.data_ptr<float>()[i];
          predictions.deviations[part[i]] = deviations.data_ptr<float>()[i];
        }
      });
  return predictions;
}

absl::Status CostModel::Refine(absl::Span<const CostGroup> groups) {
  HONE_RETURN_IF_ERROR(CheckGroups(spec_, groups));
  RefineLastLayers(groups, spec_, *network_);
  WeightsChanged();
  return absl::OkStatus();
}

}  // namespace hone::learning
