#include "backends/cpu/measure/kernel_bench.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include <sched.h>

#include "backends/cpu/compiler.h"
#include "backends/cpu/kernel_runtime.h"
#include "backends/cpu/loaded_object.h"
#include "backends/cpu/measure/isolated_child.h"
#include "backends/cpu/measure/paired_timing.h"
#include "backends/cpu/measure/placed_arrays.h"
#include "backends/cpu/measure/sandbox.h"
#include "base/clock.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/evaluator/evaluator.h"
#include "loops/ir/program.h"
#include "loops/lowering/lowering.h"
#include "loops/transforms/script.h"

namespace hone::backends {
namespace {

constexpr char kSymbol[] = "kernel";
constexpr int64_t kMaxObjectBytes = int64_t{32} << 20;
constexpr size_t kMaxSamples = 128;
constexpr size_t kMaxMessage = 1000;

// The report of a child, in shared memory.
struct ChildReport {
  bool finished;
  space::Outcome outcome;
  char message[kMaxMessage];
  double compile_seconds;
  double max_rel_error;
  double ratio;
  double ratio_low;
  double ratio_high;
  size_t samples;
  double samples_ns[kMaxSamples];
  // The timeout of the baseline's compilation.
  int64_t object_bytes;
};

void Fail(ChildReport& report, space::Outcome outcome,
          absl::string_view message) {
  report.outcome = outcome;
  const size_t length = std::min(message.size(), kMaxMessage - 1);
  std::memcpy(report.message, message.data(), length);
  report.message[length] = '\0';
}

void FlattenShape(const hlo::ShapePtr& shape,
                  std::vector<hlo::ShapePtr>& leaves) {
  if (!shape->IsTuple()) {
    leaves.push_back(shape);
    return;
  }
  for (const hlo::ShapePtr& element : shape->tuple_elements()) {
    FlattenShape(element, leaves);
  }
}

// One set of arguments and its expected results.
struct Example {
  std::vector<hlo::Literal> arguments;
  // In shared memory written by the evaluating child.
  std::vector<std::unique_ptr<SharedMemory>> expected;
};

// Literals share their data.
std::vector<hlo::Literal> ArgumentLeaves(const Example& example) {
  std::vector<hlo::Literal> all;
  for (const hlo::Literal& argument : example.arguments) {
    for (hlo::Literal& leaf : hlo::Leaves(argument)) {
      all.push_back(std::move(leaf));
    }
  }
  return all;
}

class ForkingBench final : public KernelBench {
 public:
  ForkingBench(const hlo::Module& module, loops::Program program,
               const KernelBenchOptions& options)
      : module_(module), program_(std::move(program)), options_(options) {
    FlattenShape(module.entry_computation()[module.entry_computation().root()]
                     .shape_ptr(),
                 result_shapes_);
  }

  absl::Status Prepare(const std::string& baseline_script) {
    HONE_ASSIGN_OR_RETURN(const std::vector<loops::Step> steps,
                          loops::ParseScript(baseline_script));
    HONE_ASSIGN_OR_RETURN(baseline_, loops::ApplyScript(program_, steps));
    HONE_ASSIGN_OR_RETURN(report_memory_,
                          SharedMemory::Create(sizeof(ChildReport)));
    for (const hlo::ArgumentKind kind :
         {hlo::ArgumentKind::kRandom, hlo::ArgumentKind::kAdversarial}) {
      HONE_RETURN_IF_ERROR(AddExample(kind));
    }
    HONE_RETURN_IF_ERROR(PlaceArguments());
    return CompileBaseline();
  }

  KernelTiming MeasureBaseline() override {
    KernelTiming timing = InChild([this](ChildReport& report) {
      Judge(baseline_object_, /*time=*/true, report);
    });
    timing.compile_time = baseline_compile_time_;
    return timing;
  }

  KernelTiming Measure(const std::string& script) override {
    return InChild([&](ChildReport& report) {
      const auto steps = loops::ParseScript(script);
      const absl::StatusOr<loops::Program> candidate =
          steps.ok() ? loops::ApplyScript(program_, *steps)
                     : absl::StatusOr<loops::Program>(steps.status());
      if (!candidate.ok()) {
        Fail(report, space::Outcome::kInvalid, candidate.status().message());
        return;
      }
      const std::optional<std::string> object = Compile(*candidate, report);
      if (object.has_value()) Judge(*object, /*time=*/true, report);
    });
  }

 private:
  ChildReport& report() const {
    return *reinterpret_cast<ChildReport*>(report_memory_->data());
  }

  // Runs `body` in a child; returns its report, or the way it ended.
  KernelTiming InChild(const std::function<void(ChildReport&)>& body) {
    std::memset(report_memory_->data(), 0, sizeof(ChildReport));
    const absl::StatusOr<ChildOutcome> end = RunInChild(
        [&] {
          body(report());
          report().finished = true;
        },
        {.timeout = options_.timeout});
    KernelTiming timing;
    if (!end.ok()) {
      timing.outcome = space::Outcome::kCrashed;
      timing.message = std::string(end.status().message());
    } else if (end->end == ChildEnd::kTimeout) {
      timing.outcome = space::Outcome::kTimeout;
      timing.message = end->message;
    } else if (end->end == ChildEnd::kCrashed || !report().finished) {
      timing.outcome = space::Outcome::kCrashed;
      timing.message =
          end->message.empty() ? "it ended without a report" : end->message;
    } else {
      timing = FromReport();
    }
    return timing;
  }

  // The child may have written anything into its report.
  KernelTiming FromReport() {
    ChildReport& from = report();
    KernelTiming timing;
    if (from.outcome < space::Outcome::kOk ||
        from.outcome > space::Outcome::kWrongResult ||
        from.samples > kMaxSamples || from.object_bytes < 0 ||
        from.object_bytes > kMaxObjectBytes) {
      timing.outcome = space::Outcome::kCrashed;
      timing.message = "its report was overwritten";
      return timing;
    }
    from.message[kMaxMessage - 1] = '\0';
    timing.outcome = from.outcome;
    timing.message = from.message;
    timing.compile_time = absl::Seconds(from.compile_seconds);
    timing.max_rel_error = from.max_rel_error;
    timing.ratio = from.ratio;
    timing.ratio_low = from.ratio_low;
    timing.ratio_high = from.ratio_high;
    timing.samples_ns.assign(from.samples_ns, from.samples_ns + from.samples);
    timing.ns = timing.samples_ns.empty() ? 0 : Median(timing.samples_ns);
    return timing;
  }

  absl::Status AddExample(hlo::ArgumentKind kind) {
    Example example;
    HONE_ASSIGN_OR_RETURN(example.arguments,
                          hlo::MakeArguments(module_, kind, options_.seed));
    for (const hlo::ShapePtr& shape : result_shapes_) {
      HONE_ASSIGN_OR_RETURN(auto memory,
                            SharedMemory::Create(shape->byte_size()));
      example.expected.push_back(std::move(memory));
    }
    // In a child, since it may start threads.
    const KernelTiming end = InChild([&](ChildReport& report) {
      const absl::StatusOr<hlo::Literal> value =
          hlo::Evaluate(module_, example.arguments);
      if (!value.ok()) {
        Fail(report, space::Outcome::kInvalid, value.status().message());
        return;
      }
      const std::vector<hlo::Literal> leaves = hlo::Leaves(*value);
      for (size_t i = 0; i < leaves.size(); ++i) {
        std::memcpy(example.expected[i]->data(), leaves[i].data(),
                    static_cast<size_t>(leaves[i].byte_size()));
      }
    });
    if (end.outcome != space::Outcome::kOk) {
      return absl::UnimplementedError(
          absl::StrCat("the module cannot be evaluated: ", end.message));
    }
    examples_.push_back(std::move(example));
    return absl::OkStatus();
  }

  // Timing uses the arguments of the first example.
  absl::Status PlaceArguments() {
    const std::vector<hlo::Literal> leaves = ArgumentLeaves(examples_[0]);
    std::vector<int64_t> bytes;
    bytes.reserve(leaves.size());
    for (const hlo::Literal& leaf : leaves) bytes.push_back(leaf.byte_size());
    HONE_ASSIGN_OR_RETURN(timed_arguments_, PlacedArrays::Create(bytes));
    for (size_t i = 0; i < leaves.size(); ++i) {
      std::memcpy(timed_arguments_->arrays()[i], leaves[i].data(),
                  static_cast<size_t>(bytes[i]));
    }
    return absl::OkStatus();
  }

  absl::Status CompileBaseline() {
    HONE_ASSIGN_OR_RETURN(const auto object,
                          SharedMemory::Create(kMaxObjectBytes));
    const KernelTiming end = InChild([&](ChildReport& report) {
      const std::optional<std::string> code = Compile(baseline_, report);
      if (!code.has_value()) return;
      if (static_cast<int64_t>(code->size()) > kMaxObjectBytes) {
        Fail(report, space::Outcome::kCompileError, "the code is too large");
        return;
      }
      std::memcpy(object->data(), code->data(), code->size());
      report.object_bytes = static_cast<int64_t>(code->size());
    });
    if (end.outcome != space::Outcome::kOk) {
      return absl::InternalError(
          absl::StrCat("the baseline does not compile: ", end.message));
    }
    baseline_object_.assign(reinterpret_cast<const char*>(object->data()),
                            static_cast<size_t>(report().object_bytes));
    baseline_compile_time_ = end.compile_time;
    const KernelTiming check = InChild([this](ChildReport& report) {
      Judge(baseline_object_, /*time=*/false, report);
    });
    if (check.outcome != space::Outcome::kOk) {
      return absl::InternalError(absl::StrCat(
          "the baseline is not valid: ", space::OutcomeName(check.outcome),
          ", ", check.message));
    }
    return absl::OkStatus();
  }

  // In a child: compiles the program; nullopt on failure.
  static std::optional<std::string> Compile(const loops::Program& program,
                                            ChildReport& report) {
    const absl::Duration start = SystemClock().Monotonic();
    absl::StatusOr<std::string> object = CompileProgram(program, kSymbol);
    report.compile_seconds =
        absl::ToDoubleSeconds(SystemClock().Monotonic() - start);
    if (object.ok()) return *std::move(object);
    Fail(report, space::Outcome::kCompileError, object.status().message());
    return std::nullopt;
  }

  // In a child: checks the compiled candidate and, if requested, times it.
  void Judge(const std::string& object, bool time, ChildReport& report) const {
    hone_kernel_set_threads(options_.threads);
    if (options_.threads == 1) PinToOneCore();
    auto code = LoadedObject::Create(object);
    auto baseline_code = LoadedObject::Create(baseline_object_);
    if (!code.ok() || !baseline_code.ok()) {
      Fail(report, space::Outcome::kCompileError,
           (code.ok() ? baseline_code : code).status().message());
      return;
    }
    const auto entry = (*code)->Entry(kSymbol);
    const auto baseline = (*baseline_code)->Entry(kSymbol);
    if (!entry.ok() || !baseline.ok()) {
      Fail(report, space::Outcome::kCompileError, "there is no entry");
      return;
    }
    if (const absl::Status entered = EnterSandbox(); !entered.ok()) {
      Fail(report, space::Outcome::kCrashed, entered.message());
      return;
    }
    if (Check(*entry, report) && time) Time(*entry, *baseline, report);
  }

  // Pointers to arguments and to memory for results.
  struct Call {
    std::vector<const void*> arguments;
    std::vector<std::unique_ptr<SharedMemory>> memory;
    std::vector<void*> results;
  };
  std::optional<Call> MakeCall(const Example& example) const {
    Call call;
    for (const hlo::Literal& leaf : ArgumentLeaves(example)) {
      call.arguments.push_back(leaf.data());
    }
    for (const hlo::ShapePtr& shape : result_shapes_) {
      auto memory = SharedMemory::Create(shape->byte_size());
      if (!memory.ok()) return std::nullopt;
      call.results.push_back((*memory)->data());
      call.memory.push_back(*std::move(memory));
    }
    return call;
  }

  bool Check(EntryFunction entry, ChildReport& report) const {
    for (size_t e = 0; e < examples_.size(); ++e) {
      const std::optional<Call> call = MakeCall(examples_[e]);
      if (!call.has_value()) {
        Fail(report, space::Outcome::kCrashed, "no memory for results");
        return false;
      }
      if (entry(nullptr, call->arguments.data(), call->results.data()) !=
          HONE_OK) {
        Fail(report, space::Outcome::kCrashed, hone_kernel_error_message());
        return false;
      }
      for (size_t i = 0; i < result_shapes_.size(); ++i) {
        const hlo::Comparison comparison =
            hlo::CompareLiterals(LiteralOf(i, examples_[e].expected[i]->data()),
                                 LiteralOf(i, call->memory[i]->data()));
        if (e == 0) {
          report.max_rel_error =
              std::max(report.max_rel_error, comparison.max_rel_error);
        }
        if (comparison.equal) continue;
        Fail(report, space::Outcome::kWrongResult,
             absl::StrCat(e == 0 ? "random" : "adversarial", " input, result ",
                          i, " element ", comparison.worst.element, ": ",
                          comparison.worst.b, ", expected ",
                          comparison.worst.a));
        return false;
      }
    }
    return true;
  }

  hlo::Literal LiteralOf(size_t result, const std::byte* data) const {
    hlo::Literal literal(result_shapes_[result]);
    std::memcpy(literal.MutableData(), data,
                static_cast<size_t>(literal.byte_size()));
    return literal;
  }

  void Time(EntryFunction entry, EntryFunction baseline,
            ChildReport& report) const {
    std::vector<int64_t> bytes;
    bytes.reserve(result_shapes_.size());
    for (const hlo::ShapePtr& shape : result_shapes_) {
      bytes.push_back(shape->byte_size());
    }
    const auto placed =
        PlacedArrays::Create(bytes, timed_arguments_->arrays().size());
    if (!placed.ok()) {
      Fail(report, space::Outcome::kCrashed, placed.status().message());
      return;
    }
    // Both use the same memory, so that its placement favors neither.
    const std::vector<const void*> arguments(timed_arguments_->arrays().begin(),
                                             timed_arguments_->arrays().end());
    std::vector<void*> results((*placed)->arrays().begin(),
                               (*placed)->arrays().end());
    const auto run = [&](EntryFunction function) {
      return [&arguments, &results, function] {
        function(nullptr, arguments.data(), results.data());
      };
    };
    PairedTimingOptions timing_options;
    timing_options.pairs = options_.pairs;
    timing_options.seed = options_.seed;
    const PairedTiming timing =
        TimePair(run(entry), run(baseline), SystemClock(), timing_options);
    report.ratio = timing.ratio;
    report.ratio_low = timing.ratio_low;
    report.ratio_high = timing.ratio_high;
    report.samples = std::min(timing.a_ns.size(), kMaxSamples);
    std::copy_n(timing.a_ns.begin(), report.samples, report.samples_ns);
  }

  static void PinToOneCore() {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(static_cast<size_t>(sched_getcpu()), &cores);
    sched_setaffinity(0, sizeof(cores), &cores);
  }

  const hlo::Module module_;
  const loops::Program program_;
  const KernelBenchOptions options_;
  std::vector<hlo::ShapePtr> result_shapes_;
  std::unique_ptr<SharedMemory> report_memory_;
  std::vector<Example> examples_;
  // Pages that no child writes to are shared with all of them.
  std::unique_ptr<PlacedArrays> timed_arguments_;
  loops::Program baseline_;
  std::string baseline_object_;
  absl::Duration baseline_compile_time_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<KernelBench>> KernelBench::Create(
    const hlo::Module& module, const std::string& baseline_script,
    const KernelBenchOptions& options) {
  HONE_ASSIGN_OR_RETURN(loops::Program program, loops::LowerToProgram(module));
  auto bench =
      std::make_unique<ForkingBench>(module, std::move(program), options);
  HONE_RETURN_IF_ERROR(bench->Prepare(baseline_script));
  return bench;
}

}  // namespace hone::backends
