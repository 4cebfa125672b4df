#include "learning/cost_training_state.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <type_traits>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "base/files.h"
#include "base/hash.h"

namespace hone::learning {
namespace {

constexpr absl::string_view kHeader = "hone cost model training 2\n";
// A digest of the rest comes first: what is damaged is not even parsed.
constexpr size_t kDigestSize = 64;

// A field is its size in decimal digits, a line end and its bytes.
void AppendField(absl::string_view field, std::string& out) {
  absl::StrAppend(&out, field.size(), "\n", field);
}

bool TakeField(absl::string_view& rest, std::string& field) {
  const size_t end = rest.find('\n');
  uint64_t size = 0;
  if (end == absl::string_view::npos ||
      !absl::SimpleAtoi(rest.substr(0, end), &size) ||
      size > rest.size() - end - 1) {
    return false;
  }
  field = std::string(rest.substr(end + 1, size));
  rest.remove_prefix(end + 1 + size);
  return true;
}

template <typename T>
void AppendBytes(const std::vector<T>& values, std::string& out) {
  static_assert(std::is_trivially_copyable_v<T>);
  AppendField(
      {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)},
      out);
}

std::string HashText(absl::string_view bytes) {
  const Hash128 hash = FastHash(bytes);
  return absl::StrFormat("%016x%016x", hash.high, hash.low);
}

std::string GraphHash(const space::Observation& graph) {
  std::string bytes;
  AppendBytes(graph.node_kinds, bytes);
  AppendBytes(graph.node_features, bytes);
  AppendBytes(graph.edge_sources, bytes);
  AppendBytes(graph.edge_targets, bytes);
  AppendBytes(graph.edge_features, bytes);
  AppendBytes(graph.global_features, bytes);
  return HashText(bytes);
}

std::string SpecText(const CostSpec& spec) {
  const space::ObservationSpec& graph = spec.graph;
  std::string text = absl::StrCat(spec.features, "\n", graph.node_kinds, ",",
                                  graph.node_features, ",", graph.edge_features,
                                  ",", graph.global_features);
  for (const std::vector<std::string>* names :
       {&graph.node_kind_names, &graph.node_feature_names,
        &graph.edge_feature_names, &graph.global_feature_names,
        &spec.config_names}) {
    absl::StrAppend(&text, "\n", absl::StrJoin(*names, ","));
  }
  for (const CostHead& head : spec.heads) {
    absl::StrAppend(&text, "\n", head.name, ",", static_cast<int>(head.target));
  }
  return text;
}

std::string GroupsHash(const std::vector<CostGroup>& groups) {
  absl::flat_hash_map<const space::Observation*, std::string> hashes;
  std::string all;
  for (const CostGroup& group : groups) {
    std::string bytes =
        absl::StrCat(group.program, "\n", group.head, "\n", group.weight);
    for (const CostSample& sample : group.samples) {
      std::string& hash = hashes[sample.graph.get()];
      if (hash.empty()) hash = GraphHash(*sample.graph);
      absl::StrAppend(&bytes, "\n", hash,
                      absl::StrFormat("%.17g", sample.log_time));
      AppendBytes(sample.config, bytes);
    }
    absl::StrAppend(&all, HashText(bytes));
  }
  return HashText(all);
}

}  // namespace

std::string CostTrainingFingerprint(const CostTrainingSet& set,
                                    const CostTraining& training,
                                    absl::string_view initial_weights) {
  const CostTrainingOptions& options = training.options;
  std::string text;
  AppendField(SpecText(set.spec), text);
  absl::StrAppend(&text, GroupsHash(set.training), GroupsHash(set.validation),
                  PrintCostOptions(training.architecture),
                  HashText(initial_weights), ",", options.seed, ",",
                  OrderLossName(options.order_loss));
  for (const double option :
       {static_cast<double>(options.epochs),
        static_cast<double>(options.groups_per_batch),
        static_cast<double>(options.samples_per_group), options.learning_rate,
        options.warmup, options.weight_decay, options.max_gradient_norm,
        options.input_noise, options.unknown_share}) {
    absl::StrAppend(&text, absl::StrFormat(",%.17g", option));
  }
  return HashText(text);
}

absl::StatusOr<std::optional<CostTrainingState>> ReadCostTrainingState(
    const std::string& path, absl::string_view fingerprint) {
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) {
    return std::nullopt;
  }
  // Devices and pipes may have no end.
  if (!std::filesystem::is_regular_file(path, error)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": is no regular file, expected the state of a training"));
  }
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in),
                          std::istreambuf_iterator<char>()};
  const absl::string_view digest =
      absl::string_view(bytes).substr(0, kDigestSize);
  absl::string_view rest = absl::string_view(bytes).substr(digest.size());
  CostTrainingState state;
  std::array<std::string, 3> numbers;
  const bool is_state =
      Sha256Hex(rest) == digest && absl::StartsWith(rest, kHeader) && [&] {
        rest.remove_prefix(kHeader.size());
        for (std::string* field :
             {&state.fingerprint, &numbers[0], &numbers[1], &numbers[2],
              &state.best_weights, &state.weights, &state.descent}) {
          if (!TakeField(rest, *field)) return false;
        }
        return absl::SimpleAtoi(numbers[0], &state.epoch) &&
               absl::SimpleAtod(numbers[1], &state.seconds) &&
               absl::SimpleAtod(numbers[2], &state.best_error);
      }();
  if (!is_state) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": not the state of a training, expected one that `hone train` "
        "wrote"));
  }
  if (state.fingerprint != fingerprint) {
    return absl::FailedPreconditionError(absl::StrCat(
        path,
        ": belongs to a training on other data or with other options; remove "
        "it or name another file"));
  }
  return state;
}

absl::Status WriteCostTrainingState(const std::string& path,
                                    const CostTrainingState& state) {
  std::string rest(kHeader);
  AppendField(state.fingerprint, rest);
  AppendField(absl::StrCat(state.epoch), rest);
  AppendField(absl::StrFormat("%.17g", state.seconds), rest);
  AppendField(absl::StrFormat("%.17g", state.best_error), rest);
  AppendField(state.best_weights, rest);
  AppendField(state.weights, rest);
  AppendField(state.descent, rest);
  return WriteFileAtomically(path, absl::StrCat(Sha256Hex(rest), rest));
}

}  // namespace hone::learning
