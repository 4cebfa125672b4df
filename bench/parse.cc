#include "bench/parse.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_process.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "bench/corpus.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/analysis/op_count.h"
#include "hlo/passes/registry.h"
#include "hlo/read_module.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"

namespace hone::bench {
namespace {

double Seconds(const std::function<void()>& body) {
  const absl::Time start = absl::Now();
  body();
  return absl::ToDoubleSeconds(absl::Now() - start);
}

// A child that parses a file with XLA's parser once for every line it gets.
class XlaParser {
 public:
  static absl::StatusOr<std::unique_ptr<XlaParser>> Start(
      const std::string& python, const std::string& file) {
    std::array<int, 2> to_child{};
    std::array<int, 2> from_child{};
    if (pipe2(to_child.data(), O_CLOEXEC) != 0 ||
        pipe2(from_child.data(), O_CLOEXEC) != 0) {
      return absl::InternalError("no pipe");
    }
    const absl::StatusOr<pid_t> pid =
        StartChildProcess({.program = python,
                           .arguments = {"bench/time_xla_parser.py", file},
                           .input = to_child[0],
                           .output = from_child[1]});
    close(to_child[0]);
    close(from_child[1]);
    if (!pid.ok()) {
      close(to_child[1]);
      close(from_child[0]);
      return pid.status();
    }
    auto parser = std::unique_ptr<XlaParser>(new XlaParser);
    parser->pid_ = *pid;
    parser->in_ = fdopen(to_child[1], "w");
    parser->out_ = fdopen(from_child[0], "r");
    return parser;
  }
  ~XlaParser() {
    std::fclose(in_);
    std::fclose(out_);
    waitpid(pid_, nullptr, 0);
  }

  // Seconds of one parse.
  absl::StatusOr<double> ParseOnce() {
    double seconds = 0;
    if (std::fputs("\n", in_) < 0 || std::fflush(in_) != 0 ||
        std::fscanf(out_, "%lf", &seconds) != 1) {
      return absl::UnavailableError(
          "XLA's parser did not answer, expected a Python with jaxlib "
          "(--python) and Hone's source tree as the working directory");
    }
    return seconds;
  }

 private:
  XlaParser() = default;
  pid_t pid_ = 0;
  std::FILE* in_ = nullptr;
  std::FILE* out_ = nullptr;
};

class Report {
 public:
  explicit Report(std::ostream& out) : out_(out) {}

  void Add(const std::string& name, const std::vector<double>& samples,
           double scale, const std::string& unit) {
    std::vector<double> scaled;
    scaled.reserve(samples.size());
    for (double sample : samples) scaled.push_back(sample * scale);
    const double median = Median(scaled);
    const double low = Quantile(scaled, 0.25);
    const double high = Quantile(scaled, 0.75);
    out_ << absl::StrFormat("%-34s %10.3f %-5s (quartiles %.3f to %.3f)\n",
                            name, median, unit, low, high);
    json_[name] = {{"median", median},
                   {"q25", low},
                   {"q75", high},
                   {"unit", unit},
                   {"samples", scaled.size()}};
  }
  nlohmann::ordered_json& json() { return json_; }

 private:
  std::ostream& out_;
  nlohmann::ordered_json json_;
};

// Fork, pass, count and fingerprint, for every pass, on a module in the middle
// of a search.
absl::StatusOr<std::vector<double>> TimeSearchSteps(const hlo::Module& module,
                                                    int32_t rounds) {
  std::vector<double> samples;
  for (absl::string_view name : hlo::Passes().ids()) {
    HONE_ASSIGN_OR_RETURN(const hlo::Pass* const pass, hlo::FindPass(name));
    for (int32_t round = 0; round < rounds; ++round) {
      absl::Status status;
      samples.push_back(Seconds([&] {
        hlo::Module fork = module;
        const absl::StatusOr<bool> changed = pass->Run(fork);
        status = changed.status();
        if (changed.ok() && *changed) {
          // volatile: the results must be computed.
          [[maybe_unused]] volatile int64_t ops = hlo::CountOps(fork);
          [[maybe_unused]] volatile uint64_t key =
              hlo::FastFingerprint(fork).low;
        }
      }));
      HONE_RETURN_IF_ERROR(status);
    }
  }
  return samples;
}

}  // namespace

absl::StatusOr<nlohmann::ordered_json> RunParseBench(
    const ParseOptions& options, std::ostream& out) {
  HONE_ASSIGN_OR_RETURN(const std::vector<CorpusEntry> corpus,
                        ReadCorpus(options.corpus, ""));
  const CorpusEntry* largest = &corpus.front();
  const CorpusEntry* middle = &corpus.front();
  for (const CorpusEntry& entry : corpus) {
    if (entry.ops > largest->ops) largest = &entry;
    if (std::abs(entry.ops - 1000) < std::abs(middle->ops - 1000)) {
      middle = &entry;
    }
  }
  HONE_ASSIGN_OR_RETURN(const std::string text,
                        hlo::ReadFileBytes(largest->path));
  HONE_ASSIGN_OR_RETURN(const hlo::Module module, hlo::ParseHloText(text));
  const double megabytes = static_cast<double>(text.size()) / 1e6;
  out << absl::StrFormat("%s: %.3f MB, %d instructions\n", largest->name,
                         megabytes, module.instruction_count());

  const std::string copy =
      absl::StrCat("/tmp/hone-bench-parse.", getpid(), ".hlo");
  std::ofstream(copy) << text;
  std::unique_ptr<XlaParser> xla;
  if (!options.python.empty()) {
    HONE_ASSIGN_OR_RETURN(xla, XlaParser::Start(options.python, copy));
  }
  std::vector<double> ours;
  std::vector<double> theirs;
  std::vector<double> ratios;
  absl::Status status;
  for (int32_t round = 0; status.ok() && round < options.rounds; ++round) {
    ours.push_back(Seconds([&] { status = hlo::ParseHloText(text).status(); }));
    if (xla == nullptr || !status.ok()) continue;
    const absl::StatusOr<double> seconds = xla->ParseOnce();
    status = seconds.status();
    if (!seconds.ok()) break;
    theirs.push_back(*seconds);
    ratios.push_back(*seconds / ours.back());
  }
  std::remove(copy.c_str());
  HONE_RETURN_IF_ERROR(status);

  Report report(out);
  report.Add("parse", ours, 1e3, "ms");
  std::vector<double> rates;
  rates.reserve(ours.size());
  for (double seconds : ours) rates.push_back(megabytes / seconds);
  report.Add("parse rate", rates, 1, "MB/s");
  if (!theirs.empty()) {
    report.Add("XLA's parser", theirs, 1e3, "ms");
    report.Add("XLA's time / ours", ratios, 1, "x");
  }
  const auto repeat = [&](const std::function<void()>& body) {
    std::vector<double> samples;
    samples.reserve(static_cast<size_t>(options.rounds));
    for (int32_t i = 0; i < options.rounds; ++i) {
      samples.push_back(Seconds(body));
    }
    return samples;
  };
  report.Add("print", repeat([&] { hlo::PrintModule(module); }), 1e3, "ms");
  report.Add("fingerprint", repeat([&] { hlo::Fingerprint(module); }), 1e3,
             "ms");
  for (const char* name : {"dce", "cse"}) {
    HONE_ASSIGN_OR_RETURN(const hlo::Pass* const pass, hlo::FindPass(name));
    std::vector<double> samples;
    for (int32_t i = 0; i < options.rounds; ++i) {
      hlo::Module fork = module;
      samples.push_back(Seconds([&] { status = pass->Run(fork).status(); }));
      HONE_RETURN_IF_ERROR(status);
    }
    report.Add(name, samples, 1e3, "ms");
  }
  HONE_ASSIGN_OR_RETURN(const hlo::Module step_module,
                        hlo::ReadModuleFile(middle->path));
  HONE_ASSIGN_OR_RETURN(const std::vector<double> steps,
                        TimeSearchSteps(step_module, options.rounds));
  report.Add(absl::StrCat("search step on ", middle->name), steps, 1e3, "ms");
  return nlohmann::ordered_json{{"bench", "parse"},
                                {"machine", DescribeMachine()},
                                {"module", largest->name},
                                {"bytes", text.size()},
                                {"step_module", middle->name},
                                {"figures", report.json()}};
}

}  // namespace hone::bench
