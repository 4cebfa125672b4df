#include "bench/cost_model/kernel_cost_bench.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "base/statistics.h"
#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/cost_model/kernel_data.h"
#include "bench/cost_model/kernel_evaluation.h"
#include "bench/cost_model/learned_models.h"
#include "tuning/tasks/kernel_cost_spec.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;
using Kernels = std::vector<const KernelGroup*>;
using Predictions = std::vector<SchedulePrediction>;

// The columns of the table: a number of each model, and how to get it.
struct Measure {
  const char* name;
  double ScheduleErrors::*of;
};
constexpr Measure kMeasures[] = {{"APE", &ScheduleErrors::ape},
                                 {"top 1", &ScheduleErrors::top1},
                                 {"top 5", &ScheduleErrors::top5},
                                 {"tau", &ScheduleErrors::tau},
                                 {"MAPE", &ScheduleErrors::mape}};

// The seed of what measuring again would have given.
constexpr uint64_t kAgainSeed = 0;

// The errors of all models on the kernels of one row.
struct Row {
  std::vector<ScheduleErrors> learned;
  ScheduleErrors roofline;
  ScheduleErrors again;
};

// The predictions of all models for all kernels.
struct AllPredictions {
  std::vector<Predictions> learned;
  Predictions roofline;
  Predictions again;
};

absl::StatusOr<AllPredictions> PredictAll(
    const Kernels& kernels, const std::vector<LearnedModel>& models) {
  AllPredictions all = {.learned = {},
                        .roofline = PredictByRoofline(kernels),
                        .again = MeasureAgain(kernels, kAgainSeed)};
  for (const LearnedModel& model : models) {
    HONE_ASSIGN_OR_RETURN(Predictions predictions,
                          PredictSchedules(kernels, *model.model));
    all.learned.push_back(std::move(predictions));
  }
  return all;
}

// `rows`: indices of the kernels that count.
Row RowOf(const Kernels& kernels, const AllPredictions& all,
          const std::vector<size_t>& rows) {
  Kernels chosen;
  for (const size_t row : rows) chosen.push_back(kernels[row]);
  const auto errors = [&](const Predictions& predictions) {
    Predictions of_rows;
    for (const size_t row : rows) of_rows.push_back(predictions[row]);
    return ErrorsOf(chosen, of_rows);
  };
  Row row = {.learned = {},
             .roofline = errors(all.roofline),
             .again = errors(all.again)};
  for (const Predictions& learned : all.learned) {
    row.learned.push_back(errors(learned));
  }
  return row;
}

// Returns the row of which each number is that of `of` the numbers of `rows`.
Row Summarize(const std::vector<Row>& rows,
              double (*of)(const std::vector<double>&)) {
  Row summary;
  summary.learned.resize(rows[0].learned.size());
  const auto set = [&](auto errors_of) {
    for (const Measure& measure : kMeasures) {
      std::vector<double> values;
      for (const Row& row : rows) {
        const double value = errors_of(row).*measure.of;
        if (!std::isnan(value)) values.push_back(value);
      }
      errors_of(summary).*measure.of = of(values);
    }
  };
  for (size_t m = 0; m < summary.learned.size(); ++m) {
    set([m](auto& row) -> auto& { return row.learned[m]; });
  }
  set([](auto& row) -> auto& { return row.roofline; });
  set([](auto& row) -> auto& { return row.again; });
  return summary;
}

double MeanOf(const std::vector<double>& values) { return Mean(values); }
double MedianOf(const std::vector<double>& values) { return Median(values); }

Json ToJson(const ScheduleErrors& errors) {
  Json json = Json::object();
  for (const Measure& measure : kMeasures) {
    json[measure.name] = errors.*measure.of;
  }
  return json;
}

Json ToJson(const Row& row) {
  Json learned = Json::array();
  for (const ScheduleErrors& errors : row.learned) {
    learned.push_back(ToJson(errors));
  }
  return {{"learned", std::move(learned)},
          {"roofline", ToJson(row.roofline)},
          {"measured again", ToJson(row.again)}};
}

void PrintHead(std::ostream& out) {
  out << "| family | kernels | schedules |";
  for (const Measure& measure : kMeasures) {
    out << " " << measure.name << ": learned | roofline | again |";
  }
  out << "\n|---|---|---|";
  for (size_t i = 0; i < 3 * std::size(kMeasures); ++i) out << "---|";
  out << "\n";
}

// Of several learned models, the mean.
void Print(const std::string& name, const std::string& counts, const Row& row,
           std::ostream& out) {
  out << "| " << name << " | " << counts << " |";
  for (const Measure& measure : kMeasures) {
    std::vector<double> seeds;
    for (const ScheduleErrors& errors : row.learned) {
      seeds.push_back(errors.*measure.of);
    }
    for (const double value :
         {MeanOf(seeds), row.roofline.*measure.of, row.again.*measure.of}) {
      out << (std::isnan(value) ? std::string(" — |")
                                : absl::StrFormat(" %.2f |", value));
    }
  }
  out << "\n" << std::flush;
}

}  // namespace

absl::StatusOr<Json> RunKernelCostBench(const KernelCostBenchOptions& options,
                                        std::ostream& out) {
  HONE_ASSIGN_OR_RETURN(const KernelSplit split,
                        KernelSplit::Read(options.split));
  HONE_ASSIGN_OR_RETURN(const std::vector<LearnedModel> models,
                        ReadLearnedModels(options.weights, "cpu_kernel",
                                          tuning::KernelCostSpec()));
  HONE_ASSIGN_OR_RETURN(
      const std::vector<KernelGroup> groups,
      ReadKernelData(options.kernels, split, /*with_graphs=*/true));
  Kernels kernels;
  std::map<std::string, std::vector<size_t>> families;
  std::vector<size_t> everything;
  for (const KernelGroup& group : groups) {
    if (group.part != KernelPart::kTest || group.schedules.empty()) continue;
    families[group.kernel.family].push_back(kernels.size());
    everything.push_back(kernels.size());
    kernels.push_back(&group);
  }
  if (kernels.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        options.kernels, ": no measured kernels that are held out by ",
        options.split));
  }
  HONE_ASSIGN_OR_RETURN(const AllPredictions all, PredictAll(kernels, models));
  const std::string machine = DescribeMachine();
  out << machine << "\n"
      << models.size()
      << " learned models; per cent, but for Kendall's tau\n\n";
  PrintHead(out);
  const auto schedules = [&](const std::vector<size_t>& rows) {
    size_t count = 0;
    for (const size_t row : rows) count += kernels[row]->schedules.size();
    return count;
  };
  const auto counts = [&](const std::vector<size_t>& rows) {
    return absl::StrCat(rows.size(), " | ", schedules(rows));
  };
  Json list = Json::array();
  std::vector<Row> rows;
  for (const auto& [family, of_family] : families) {
    rows.push_back(RowOf(kernels, all, of_family));
    Print(family, counts(of_family), rows.back(), out);
    Json entry = {{"family", family},
                  {"kernels", of_family.size()},
                  {"schedules", schedules(of_family)}};
    entry.update(ToJson(rows.back()));
    list.push_back(std::move(entry));
  }
  Json summary = Json::object();
  const auto add = [&](const char* name, const std::string& count,
                       const Row& row) {
    Print(name, count, row, out);
    summary[name] = ToJson(row);
  };
  add("mean", " | ", Summarize(rows, MeanOf));
  add("median", " | ", Summarize(rows, MedianOf));
  add("all kernels", counts(everything), RowOf(kernels, all, everything));
  Json files = Json::array();
  for (const LearnedModel& model : models) files.push_back(model.file);
  return Json{{"bench", "cost-model"},
              {"machine", machine},
              {"kernels", options.kernels},
              {"split", options.split},
              {"weights", files},
              {"families", std::move(list)},
              {"summary", std::move(summary)}};
}

}  // namespace hone::bench
