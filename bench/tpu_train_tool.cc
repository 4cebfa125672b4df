#include <iostream>
#include <string>
#include "absl/strings/str_format.h"
#include "bench/cost_model/tpu_groups.h"
#include "bench/cost_model/tpu_programs.h"
#include "learning/cost_training.h"
#include "tuning/tasks/tile_surrogate.h"
using namespace hone;
int main(int argc, char** argv) {
  std::string data = argv[1], split_name = argv[2], out = argv[3];
  double minutes = atof(argv[4]);
  auto split = bench::ReadFamilySplit("bench/data/cost_model/tpu_split.json:" + split_name);
  if (!split.ok()) { std::cerr << split.status() << "\n"; return 1; }
  learning::CostTrainingSet set;
  set.spec = tuning::TpuCostSpec();
  int n = 0;
  auto status = bench::ReadTpuSamples(data, [&](bench::TpuSamples line) -> absl::Status {
    if (split->test.contains(line.family)) return absl::OkStatus();
    auto groups = bench::TpuGroups(line);
    if (!groups.ok()) { std::cerr << groups.status() << "\n"; return absl::OkStatus(); }
    auto& to = split->validation.contains(line.family) ? set.validation : set.training;
    for (auto& g : *groups) to.push_back(std::move(g));
    ++n;
    return absl::OkStatus();
  });
  std::cerr << status << " " << n << " kernels, " << set.training.size() << " groups, " << set.validation.size() << "\n";
  learning::CostTraining t;
  t.weights_file = out;
  t.state_file = out + ".state";
  t.time = absl::Minutes(minutes);
  for (int i = 5; i + 1 < argc; i += 2) {
    std::string k = argv[i], v = argv[i + 1];
    if (k == "arch") t.architecture = *learning::ParseCostOptions(v);
    if (k == "loss") t.options.order_loss = *learning::ParseOrderLoss(v);
    if (k == "epochs") t.options.epochs = atoi(v.c_str());
    if (k == "seed") t.options.seed = static_cast<uint64_t>(atoi(v.c_str()));
    if (k == "lr") t.options.learning_rate = atof(v.c_str());
  }
  t.on_progress = [&](const learning::CostProgress& p) {
    std::cerr << absl::StrFormat("epoch %d %.0f s loss %.4f %.0f samples/s error %.3f best %.3f:", p.epoch, p.seconds, p.loss, p.samples_per_second, p.error, p.best_error);
    for (size_t h = 0; h < 3; ++h) {
      auto m = learning::MeanOverPrograms(p.metrics, static_cast<int32_t>(h));
      std::cerr << absl::StrFormat("  [%s ape %.2f (med %.2f) top5 %.2f mape %.2f tau %.3f]", set.spec.heads[h].name, m.mean.ape, m.median_ape, m.mean.top5, m.mean.mape, m.mean.kendall);
    }
    std::cerr << "\n";
  };
  auto r = learning::TrainCostModel(set, t);
  std::cerr << r.status() << "\n";
}
