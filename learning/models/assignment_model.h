#ifndef HONE_LEARNING_MODELS_ASSIGNMENT_MODEL_H_
#define HONE_LEARNING_MODELS_ASSIGNMENT_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

#include "learning/assignments/described_move.h"
#include "learning/assignments/value_view.h"
#include "learning/networks/encoder_options.h"

namespace hone::learning {

class ValueNetworkImpl;

// A policy for assignment problems: a network with its weights. Hides Torch.
//
// Threads: Score is thread-safe while nothing changes the weights.
class AssignmentModel {
 public:
  // Makes random weights that score all values 0. Deterministic by seed.
  AssignmentModel(const AssignmentSpec& spec, const EncoderOptions& options,
                  uint64_t seed);
  ~AssignmentModel();

  // Returns the model that Serialize wrote, with its architecture, for `spec`,
  // matched by name as Model::Parse does.
  // Errors: InvalidArgument if `bytes` are no model, or one whose spec does not
  // match.
  static absl::StatusOr<std::unique_ptr<AssignmentModel>> Parse(
      absl::string_view bytes, const AssignmentSpec& spec);
  // The same for the spec that the weights were saved with.
  static absl::StatusOr<std::unique_ptr<AssignmentModel>> ParseAsSaved(
      absl::string_view bytes);
  std::string Serialize() const;

  // As those of Model.
  void CopyWeights(const AssignmentModel& other);
  std::vector<std::string> CopyMatching(const AssignmentModel& other);

  // Returns the scores of all values, as ValueView numbers them, after the
  // assignment `values`. Time and memory are linear in the graph; the heads
  // take a bounded number of variables at a time.
  std::vector<float> Score(const ValueView& view,
                           absl::Span<const int32_t> values) const;

  // Returns what moves from an assignment are expected to gain, in the unit of
  // TriedMove::gain. The spec must have features of moves. The graph is encoded
  // with the first call for it and kept in `memory`, which belongs to this
  // view and these weights.
  struct Encoded;
  std::vector<float> ScoreMoves(const ValueView& view,
                                absl::Span<const DescribedMove> moves,
                                std::shared_ptr<const Encoded>& memory) const;

  const AssignmentSpec& spec() const { return spec_; }
  const EncoderOptions& options() const { return options_; }
  const std::shared_ptr<ValueNetworkImpl>& network() const { return network_; }

 private:
  const AssignmentSpec spec_;
  const EncoderOptions options_;
  std::shared_ptr<ValueNetworkImpl> network_;
};

}  // namespace hone::learning

#endif  // HONE_LEARNING_MODELS_ASSIGNMENT_MODEL_H_
