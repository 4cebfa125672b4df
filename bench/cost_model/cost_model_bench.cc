#include "bench/cost_model/cost_model_bench.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "backends/tpu_sim/tpu.h"
#include "base/hash.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/cost_model/learned_models.h"
#include "bench/cost_model/prediction_rates.h"
#include "bench/cost_model/tpu_data.h"
#include "bench/cost_model/tpu_evaluation.h"
#include "bench/cost_model/tpu_programs.h"
#include "bench/plot.h"
#include "tuning/read_cost_model.h"
#include "tuning/tasks/tile_surrogate.h"
#include "tuning/tasks/tpu_peaks.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

// Lets the models learn from samples of the TPU first, if so asked.
absl::Status Refine(const CostModelBenchOptions& options,
                    const FamilySplit& split,
                    std::vector<LearnedModel>& models) {
  if (options.refine.empty()) return absl::OkStatus();
  HONE_ASSIGN_OR_RETURN(const std::vector<learning::CostGroup> groups,
                        DrawTpuGroups(options.refine, split,
                                      options.refine_samples, options.seed));
  for (LearnedModel& learned : models) {
    std::unique_ptr<learning::CostPredictor> refined = learned.model->Clone();
    HONE_RETURN_IF_ERROR(refined->Refine(groups));
    learned.model = std::move(refined);
  }
  return absl::OkStatus();
}

// Numbers of all programs, of which some may be NaN: not there.
class Column {
 public:
  void Add(double value, const std::string& family = "") {
    if (std::isnan(value)) return;
    values_.push_back(value);
    families_[family].push_back(value);
  }
  double Mean() const {
    double sum = 0;
    for (const double value : values_) sum += value;
    return sum / static_cast<double>(values_.size());
  }
  // As the published means are. An error of 0 counts as a thousandth.
  double GeometricMean() const {
    double sum = 0;
    for (const double value : values_) sum += std::log(std::max(value, 1e-3));
    return std::exp(sum / static_cast<double>(values_.size()));
  }
  // Families with many programs count no more than those with few.
  double MeanOverFamilies() const {
    double sum = 0;
    for (const auto& [family, values] : families_) sum += hone::Mean(values);
    return sum / static_cast<double>(families_.size());
  }
  double Median() const {
    if (values_.empty()) return std::numeric_limits<double>::quiet_NaN();
    std::vector<double> sorted = values_;
    std::sort(sorted.begin(), sorted.end());
    const size_t half = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[half]
                                  : (sorted[half - 1] + sorted[half]) / 2;
  }

 private:
  std::vector<double> values_;
  std::map<std::string, std::vector<double>> families_;
};

// The columns of the table: a number of each model, and how to get it.
struct Measure {
  const char* name;
  double TpuErrors::*of;
};
constexpr Measure kMeasures[] = {{"tile APE", &TpuErrors::ape},
                                 {"top 5", &TpuErrors::top5},
                                 {"program time", &TpuErrors::program},
                                 {"tile tau", &TpuErrors::tile_tau},
                                 {"fusion MAPE", &TpuErrors::mape},
                                 {"MAPE from 5 us", &TpuErrors::long_mape},
                                 {"time tau", &TpuErrors::time_tau},
                                 {"within 1 deviation", &TpuErrors::within_one},
                                 {"within 2", &TpuErrors::within_two}};
constexpr size_t kMeasureCount = std::size(kMeasures);

Json ToJson(const TpuErrors& errors) {
  Json json = Json::object();
  for (const Measure& measure : kMeasures) {
    json[measure.name] = errors.*measure.of;
  }
  return json;
}

// The table, row by row.
class Table {
 public:
  Table(std::vector<std::string> weights, std::ostream& out)
      : learned_(weights.size()),
        doubts_(weights.size()),
        weights_(std::move(weights)),
        out_(out) {
    out_ << "| program | kernels | tiles |";
    for (const Measure& measure : kMeasures) {
      out_ << " " << measure.name << ": learned | analytical |";
    }
    out_ << " tile APE: default |\n|---|---|---|---|";
    for (size_t i = 0; i < 2 * kMeasureCount; ++i) out_ << "---|";
    out_ << "\n";
  }

  // Adds a program: errors of each learned model, of the analytical one, and of
  // the default tiles.
  void Add(const TimedProgram& program, const std::vector<TpuErrors>& learned,
           const TpuErrors& analytical, double default_ape) {
    size_t tiles = 0;
    for (const TimedTiles& kernel : program.kernels) tiles += kernel.ns.size();
    out_ << absl::StrFormat("| %s | %d | %d |", program.program.name,
                            program.kernels.size(), tiles);
    for (size_t m = 0; m < kMeasureCount; ++m) {
      const auto of = kMeasures[m].of;
      Column seeds;
      for (size_t i = 0; i < learned.size(); ++i) {
        learned_[i][m].Add(learned[i].*of, program.program.family);
        seeds.Add(learned[i].*of);
      }
      analytical_[m].Add(analytical.*of, program.program.family);
      Cells(seeds.Mean(), analytical.*of);
    }
    default_ape_.Add(default_ape, program.program.family);
    for (size_t i = 0; i < learned.size(); ++i) doubts_[i] += learned[i].doubt;
    out_ << absl::StrFormat(" %.2f |\n", default_ape) << std::flush;
    Json models = Json::array();
    for (const TpuErrors& errors : learned) models.push_back(ToJson(errors));
    programs_.push_back({{"program", program.program.name},
                         {"family", program.program.family},
                         {"kernels", program.kernels.size()},
                         {"tiles", tiles},
                         {"learned", std::move(models)},
                         {"analytical", ToJson(analytical)},
                         {"default tile APE", default_ape}});
  }

  // Adds rows over all programs; returns everything.
  Json Finish() {
    Json summary = Json::object();
    Summarize("mean", &Column::Mean, summary);
    Summarize("median", &Column::Median, summary);
    Summarize("geometric mean", &Column::GeometricMean, summary);
    Summarize("mean over families", &Column::MeanOverFamilies, summary);
    return {{"programs", std::move(programs_)},
            {"summary", std::move(summary)},
            {"models", PrintModels()}};
  }

 private:
  using Columns = std::array<Column, kMeasureCount>;

  void Cells(double learned, double analytical) {
    const auto text = [](double value) {
      return std::isnan(value) ? std::string("—")
                               : absl::StrFormat("%.2f", value);
    };
    out_ << " " << text(learned) << " | " << text(analytical) << " |";
  }

  // The means over programs of each model, and, of the kernels of all programs
  // together, whether it knows what it does not know.
  Json PrintModels() const {
    out_ << "\n| weights |";
    for (const Measure& measure : kMeasures) {
      out_ << " " << measure.name << " |";
    }
    out_ << absl::StrFormat(
        " kernels | unsure: deviation of at least %.2f | off by a factor of "
        "more than %.2f | unsure of these |\n|---|---|---|---|---|",
        tuning::kUnsureDeviation, std::exp(tuning::kUnsureDeviation));
    for (size_t i = 0; i < kMeasureCount; ++i) out_ << "---|";
    out_ << "\n";
    Json all = Json::array();
    for (size_t i = 0; i < weights_.size(); ++i) {
      Json json = {{"weights", weights_[i]}};
      out_ << "| " << weights_[i] << " |";
      for (size_t m = 0; m < kMeasureCount; ++m) {
        const double mean = learned_[i][m].Mean();
        out_ << absl::StrFormat(" %.2f |", mean);
        json[kMeasures[m].name] = mean;
      }
      const Doubt& doubt = doubts_[i];
      out_ << absl::StrFormat(" %d | %d | %d | %d |\n", doubt.kernels,
                              doubt.unsure, doubt.wrong, doubt.wrong_unsure);
      json["kernels"] = doubt.kernels;
      json["unsure"] = doubt.unsure;
      json["wrong"] = doubt.wrong;
      json["wrong_unsure"] = doubt.wrong_unsure;
      all.push_back(std::move(json));
    }
    return all;
  }

  void Summarize(const char* name, double (Column::*mean)() const,
                 Json& summary) {
    out_ << "| " << name << " | | |";
    Json row = Json::object();
    for (size_t m = 0; m < kMeasureCount; ++m) {
      std::vector<double> seeds;
      Column over_seeds;
      for (const Columns& columns : learned_) {
        seeds.push_back((columns[m].*mean)());
        over_seeds.Add(seeds.back());
      }
      const double analytical = (analytical_[m].*mean)();
      Cells(over_seeds.Mean(), analytical);
      row[kMeasures[m].name] = {{"learned", seeds}, {"analytical", analytical}};
    }
    const double default_ape = (default_ape_.*mean)();
    out_ << absl::StrFormat(" %.2f |\n", default_ape);
    row["default tile APE"] = default_ape;
    summary[name] = std::move(row);
  }

  std::vector<Columns> learned_;
  std::vector<Doubt> doubts_;
  const std::vector<std::string> weights_;  // files
  Columns analytical_;
  Column default_ape_;
  std::ostream& out_;
  Json programs_ = Json::array();
};

// Predicted against true times of the kernels of all programs.
class TimePlot {
 public:
  void Add(const TimedProgram& program,
           const std::vector<TilePrediction>& learned,
           const std::vector<TilePrediction>& analytical) {
    constexpr double kNsPerUs = 1000;
    for (size_t k = 0; k < program.kernels.size(); ++k) {
      const double us = program.kernels[k].ns[0] / kNsPerUs;
      learned_.push_back({us, learned[k].ns[0] / kNsPerUs});
      analytical_.push_back({us, analytical[k].ns[0] / kNsPerUs});
    }
  }

  absl::Status Write(const CostModelBenchOptions& options) const {
    // Few enough for a file that a browser shows at once.
    constexpr int64_t kPoints = 750;
    return WritePlot(
        {.title = absl::StrCat("Times of kernels on a simulated TPU ",
                               options.tpu, ", programs never trained on"),
         .x = {"true time, µs", AxisScale::kLogarithmic},
         .y = {"predicted time, µs", AxisScale::kLogarithmic},
         .series = {{"analytical", ThinPoints(analytical_, kPoints), false},
                    {"learned", ThinPoints(learned_, kPoints), false}},
         .has_diagonal = true},
        options.plots, "cost_model");
  }

 private:
  std::vector<PlotPoint> learned_;
  std::vector<PlotPoint> analytical_;
};

}  // namespace

absl::StatusOr<Json> RunCostModelBench(const CostModelBenchOptions& options,
                                       std::ostream& out) {
  HONE_ASSIGN_OR_RETURN(const backends::Tpu tpu,
                        backends::FindTpu(options.tpu));
  HONE_ASSIGN_OR_RETURN(const FamilySplit split,
                        ReadFamilySplit(options.split));
  HONE_ASSIGN_OR_RETURN(
      std::vector<TpuProgram> programs,
      ReadTpuPrograms(options.corpus, options.partitions, options.only));
  programs.erase(std::remove_if(programs.begin(), programs.end(),
                                [&](const TpuProgram& program) {
                                  return !split.test.contains(program.family);
                                }),
                 programs.end());
  const absl::Status nothing = absl::InvalidArgumentError(
      absl::StrCat("no kernels of programs that ", options.split,
                   " holds out, expected some"));
  if (programs.empty()) return nothing;
  HONE_ASSIGN_OR_RETURN(
      std::vector<LearnedModel> models,
      ReadLearnedModels(options.weights, "tpu_kernel", tuning::TpuCostSpec()));
  HONE_RETURN_IF_ERROR(Refine(options, split, models));
  absl::flat_hash_set<Hash128> known;
  if (!options.leave_out.empty()) {
    HONE_ASSIGN_OR_RETURN(known, KernelsLearnedFrom(options.leave_out, split));
  }
  if (!options.plots.empty()) {
    HONE_RETURN_IF_ERROR(MakePlotFolder(options.plots));
  }
  const std::string machine = DescribeMachine();
  out << machine << "\nTPU " << options.tpu << ", " << models.size()
      << " learned models, at most " << options.tiles
      << " tiles of a kernel; per cent\n\n";
  std::vector<std::string> files;
  for (const LearnedModel& model : models) files.push_back(model.file);
  Table table(files, out);
  const costmodels::TpuConstants constants =
      costmodels::FittedConstants(options.tpu);
  TimePlot plot;
  PredictionRates rates;
  int evaluated = 0;
  for (const TpuProgram& program : programs) {
    HONE_ASSIGN_OR_RETURN(
        const TimedProgram timed,
        TimeTiles(program, tpu, options.tiles, options.seed, known));
    if (timed.kernels.empty()) continue;
    const std::vector<TilePrediction> analytical =
        PredictTilesAnalytically(timed, tpu, constants);
    const std::vector<TileInputs> inputs = TileInputsOf(timed, tpu);
    std::vector<TpuErrors> learned;
    for (const LearnedModel& model : models) {
      HONE_ASSIGN_OR_RETURN(const std::vector<TilePrediction> predictions,
                            PredictTiles(inputs, *model.model));
      if (learned.empty()) plot.Add(timed, predictions, analytical);
      learned.push_back(ErrorsOf(timed, predictions));
    }
    table.Add(timed, learned, ErrorsOf(timed, analytical), DefaultApe(timed));
    rates.Add(timed);
    ++evaluated;
  }
  if (evaluated == 0) return nothing;
  if (!options.plots.empty()) HONE_RETURN_IF_ERROR(plot.Write(options));
  Json document = {{"bench", "cost-model"},
                   {"machine", machine},
                   {"tpu", options.tpu},
                   {"split", options.split},
                   {"weights", files},
                   {"refine", options.refine},
                   {"leave_out", options.leave_out},
                   {"max_tiles", options.tiles},
                   {"seed", options.seed}};
  document.update(table.Finish());
  if (rates.kernels() > 0) {
    HONE_ASSIGN_OR_RETURN(
        document["rates"],
        rates.Measure(tuning::PeaksOf(tpu), *models.front().model, out));
  }
  return document;
}

}  // namespace hone::bench
