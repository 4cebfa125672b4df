#include "learning/models/cost_ensemble.h"

#include <cmath>
#include <cstring>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include <torch/torch.h>

#include "base/check.h"
#include "base/status_macros.h"
#include "learning/models/cost_model.h"
#include "learning/models/weights_archive.h"
#include "learning/networks/archive_check.h"

namespace hone::learning {
namespace {

// The key in the archive: the bytes of the members' own archives.
constexpr char kMembers[] = "cost_ensemble";

// Returns the bytes of the members; none if `bytes` are no ensemble.
std::vector<std::string> ReadMembers(absl::string_view bytes) {
  std::vector<std::string> members;
  if (!IsIntactArchive(bytes)) return members;
  try {
    std::istringstream in{std::string(bytes)};
    torch::serialize::InputArchive archive;
    archive.load_from(in);
    c10::IValue list;
    if (!archive.try_read(kMembers, list)) return members;
    for (const c10::IValue& member : list.toListRef()) {
      const torch::Tensor tensor = member.toTensor().contiguous();
      if (tensor.scalar_type() != torch::kUInt8) return {};
      members.emplace_back(
          reinterpret_cast<const char*>(tensor.data_ptr<uint8_t>()),
          static_cast<size_t>(tensor.numel()));
    }
  } catch (const std::exception&) {
    // Torch's messages are stack traces.
    return {};
  }
  return members;
}

absl::StatusOr<std::unique_ptr<CostPredictor>> ParseOne(absl::string_view bytes,
                                                        const CostSpec* spec) {
  if (spec == nullptr) return CostModel::ParseAsSaved(bytes);
  return CostModel::Parse(bytes, *spec);
}

}  // namespace

CostEnsemble::CostEnsemble(
    std::vector<std::unique_ptr<CostPredictor>> members) {
  for (auto& member : members) {
    auto* const ensemble = dynamic_cast<CostEnsemble*>(member.get());
    if (ensemble == nullptr) {
      members_.push_back(std::move(member));
      continue;
    }
    for (auto& inner : ensemble->TakeMembers()) {
      members_.push_back(std::move(inner));
    }
  }
  HONE_CHECK(!members_.empty());
}

absl::StatusOr<CostPredictions> CostEnsemble::Predict(
    int32_t head, absl::Span<const CostQuery> queries) const {
  const auto count = static_cast<double>(members_.size());
  std::vector<double> sums(queries.size());
  std::vector<double> squares(queries.size());
  std::vector<double> variances(queries.size());
  for (const auto& member : members_) {
    HONE_ASSIGN_OR_RETURN(const CostPredictions of_member,
                          member->Predict(head, queries));
    for (size_t i = 0; i < queries.size(); ++i) {
      const double value = of_member.values[i];
      const double deviation = of_member.deviations[i];
      sums[i] += value;
      squares[i] += value * value;
      variances[i] += deviation * deviation;
    }
  }
  CostPredictions predictions;
  for (size_t i = 0; i < queries.size(); ++i) {
    const double mean = sums[i] / count;
    const double between = std::max(squares[i] / count - mean * mean, 0.0);
    predictions.values.push_back(static_cast<float>(mean));
    predictions.deviations.push_back(
        static_cast<float>(std::sqrt(variances[i] / count + between)));
  }
  return predictions;
}

absl::Status CostEnsemble::Refine(absl::Span<const CostGroup> groups) {
  // Of groups that do not fit, the first refuses.
  for (const auto& member : members_) {
    HONE_RETURN_IF_ERROR(member->Refine(groups));
  }
  return absl::OkStatus();
}

std::string CostEnsemble::Serialize() const {
  c10::List<torch::Tensor> list;
  for (const auto& member : members_) {
    const std::string bytes = member->Serialize();
    torch::Tensor tensor = torch::empty({static_cast<int64_t>(bytes.size())},
                                        torch::dtype(torch::kUInt8));
    std::memcpy(tensor.data_ptr<uint8_t>(), bytes.data(), bytes.size());
    list.push_back(std::move(tensor));
  }
  torch::serialize::OutputArchive archive;
  archive.write(kMembers, list);
  std::ostringstream out;
  archive.save_to(out);
  return std::move(out).str();
}

std::unique_ptr<CostPredictor> CostEnsemble::Clone() const {
  std::vector<std::unique_ptr<CostPredictor>> copies;
  for (const auto& member : members_) copies.push_back(member->Clone());
  return std::make_unique<CostEnsemble>(std::move(copies));
}

absl::StatusOr<std::unique_ptr<CostPredictor>> ParseCostPredictor(
    absl::string_view bytes, const CostSpec* spec) {
  const std::vector<std::string> members = ReadMembers(bytes);
  if (members.empty()) return ParseOne(bytes, spec);
  std::vector<std::unique_ptr<CostPredictor>> parsed;
  for (const std::string& member : members) {
    auto model = ParseOne(member, spec);
    if (model.ok() && !parsed.empty() &&
        (*model)->spec() != parsed[0]->spec()) {
      model = absl::InvalidArgumentError(
          "another spec than member 1, expected the same");
    }
    if (!model.ok()) {
      return absl::Status(
          model.status().code(),
          absl::StrCat("member ", parsed.size() + 1, " of ", members.size(),
                       ": ", model.status().message()));
    }
    parsed.push_back(*std::move(model));
  }
  return std::make_unique<CostEnsemble>(std::move(parsed));
}

}  // namespace hone::learning
