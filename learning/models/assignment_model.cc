#include "learning/models/assignment_model.h"

#include "learning/models/weights_archive.h"
#include "learning/networks/graph_batch.h"
#include "learning/networks/move_rows.h"
#include "learning/networks/torch_threads.h"
#include "learning/networks/value_network.h"
#include "learning/networks/value_rows.h"

namespace hone::learning {

AssignmentModel::AssignmentModel(const AssignmentSpec& spec,
                                 const EncoderOptions& options, uint64_t seed)
    : spec_(spec), options_(options) {
  WithSeed(seed, [&] {
    network_ = std::make_shared<ValueNetworkImpl>(spec_, options_);
  });
}

AssignmentModel::~AssignmentModel() = default;

absl::StatusOr<std::unique_ptr<AssignmentModel>> AssignmentModel::Parse(
    absl::string_view bytes, const AssignmentSpec& spec) {
  return ParseWeights<AssignmentModel>(bytes, &spec);
}

absl::StatusOr<std::unique_ptr<AssignmentModel>> AssignmentModel::ParseAsSaved(
    absl::string_view bytes) {
  return ParseWeights<AssignmentModel, AssignmentSpec>(bytes, nullptr);
}

std::string AssignmentModel::Serialize() const {
  return SerializeWeights(spec_, options_, *network_);
}

void AssignmentModel::CopyWeights(const AssignmentModel& other) {
  CopyParameters(*other.network_, *network_);
}

std::vector<std::string> AssignmentModel::CopyMatching(
    const AssignmentModel& other) {
  return CopyMatchingParameters(*other.network_, *network_);
}

std::vector<float> AssignmentModel::Score(
    const ValueView& view, absl::Span<const int32_t> values) const {
  torch::InferenceMode inference;
  const space::Observation* const graph = &view.graph();
  const ValueEncoding encoding =
      network_->Encode(MakeGraphBatch({&graph, 1}, spec_.observation));
  std::vector<float> scores;
  scores.reserve(view.score_count());
  ForValueRows(view, values, [&](const ValueRows& rows, int32_t) {
    const torch::Tensor part = network_->Score(rows, encoding).contiguous();
    const float* const data = part.data_ptr<float>();
    scores.insert(scores.end(), data, data + part.numel());
  });
  return scores;
}

struct AssignmentModel::Encoded {
  ValueEncoding encoding;
};

std::vector<float> AssignmentModel::ScoreMoves(
    const ValueView& view, absl::Span<const DescribedMove> moves,
    std::shared_ptr<const Encoded>& memory) const {
  if (moves.empty()) return {};
  torch::InferenceMode inference;
  if (memory == nullptr) {
    const space::Observation* const graph = &view.graph();
    memory = std::make_shared<const Encoded>(Encoded{
        network_->Encode(MakeGraphBatch({&graph, 1}, spec_.observation))});
  }
  std::vector<const DescribedMove*> pointers;
  pointers.reserve(moves.size());
  for (const DescribedMove& move : moves) pointers.push_back(&move);
  const torch::Tensor scores =
      network_->ScoreMoves(MakeMoveRows(view, pointers), memory->encoding)
          .contiguous();
  const float* const data = scores.data_ptr<float>();
  return {data, data + scores.numel()};
}

}  // namespace hone::learning
