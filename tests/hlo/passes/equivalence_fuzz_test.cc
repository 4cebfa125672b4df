// Every pass, alone and in random orders, on random modules.

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "base/thread_pool.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/evaluator/kernels.h"
#include "hlo/inference/verifier.h"
#include "hlo/passes/registry.h"
#include "hlo/text/parser.h"
#include "tests/hlo/passes/check_order.h"
#include "tests/support/random_module.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::testing::IsEmpty;

constexpr int64_t kGraphs = 500;
// Random orders for each module, and their passes.
constexpr int kOrders = 4;
constexpr uint64_t kShortestOrder = 2;
constexpr uint64_t kLongestOrder = 8;
// Failures that are shrunk and shown, of each pass and kind one; the others are
// only counted. HONE_FUZZ_SHOWN asks for more.
constexpr int64_t kMaxShown = 5;

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  int64_t value = otherwise;
  if (text != nullptr) {
    EXPECT_TRUE(absl::SimpleAtoi(text, &value)) << text;
  }
  return value;
}

// HONE_FUZZ_GRAPHS asks for more graphs, as the slow test does;
// HONE_FUZZ_FIRST is the first seed.
int64_t Graphs() { return FromEnvironment("HONE_FUZZ_GRAPHS", kGraphs); }
int64_t FirstGraph() { return FromEnvironment("HONE_FUZZ_FIRST", 0); }

absl::StatusOr<const Pass*> Find(absl::string_view name) {
  return FindPass(name);
}

// The features of random modules (random_module.h): by HONE_FUZZ_FEATURES none,
// or the only one that it names.
testing::RandomModuleOptions Features(uint64_t seed) {
  const char* only = std::getenv("HONE_FUZZ_FEATURES");
  if (only == nullptr || absl::string_view(only) == "all") {
    return testing::RandomFeatures(seed);
  }
  testing::RandomModuleOptions options;
  for (int i = 0; i < testing::kFeatureCount; ++i) {
    const auto feature = static_cast<testing::Feature>(i);
    if (testing::FeatureName(feature) == only) options.set_amount(feature, 60);
  }
  return options;
}

// HONE_FUZZ_NUMERICS is exact, reassociate or fast.
CheckOptions Options() {
  CheckOptions options;
  if (const char* name = std::getenv("HONE_FUZZ_NUMERICS")) {
    const absl::StatusOr<Numerics> numerics = ParseNumerics(name);
    HONE_EXPECT_OK(numerics);
    if (numerics.ok()) options.rewrite.numerics = *numerics;
  }
  options.extremes = options.rewrite.numerics != Numerics::kFast;
  return options;
}

Module RandomModule(uint64_t seed,
                    const testing::RandomModuleOptions& options) {
  const std::string text = testing::RandomModuleText(seed, options);
  absl::StatusOr<Module> module = ParseHloText(text);
  if (module.ok()) {
    const absl::Status status = VerifyModule(*module);
    if (status.ok()) return *std::move(module);
    module = status;
  }
  ADD_FAILURE() << "seed " << seed << " (" << testing::FeatureNames(options)
                << "): " << module.status() << "\n"
                << text;
  return Module();
}

// Shrinks a failure, writes it to a folder and says how to see it again.
std::string Report(const FailingCase& failing, const OrderFailure& failure,
                   uint64_t seed) {
  namespace fs = std::filesystem;
  const FailingCase small =
      ShrinkFailure(failing, failure.kind, Find, Options());
  const fs::path folder = fs::temp_directory_path() / "hone_fuzz_failures";
  fs::create_directories(folder);
  const std::string path =
      folder / absl::StrCat(seed, "_", small.passes.size(), "_",
                            small.passes.empty() ? "" : small.passes[0],
                            ".hlo");
  std::ofstream(path) << PrintCase(small);
  return absl::StrCat("seed ", seed, ", ", failure.pass, ": ", failure.message,
                      "\n", PrintCase(small), "again: hone opt ", path,
                      " --passes=", absl::StrJoin(small.passes, ","),
                      " -o after.hlo && hone diff ", path, " after.hlo\n");
}

// The statistics of a run of the fuzzer.
struct Statistics {
  absl::Mutex mu;
  // The number of modules that each pass changed when run first.
  std::map<std::string, int64_t> changed ABSL_GUARDED_BY(mu);
  int64_t orders ABSL_GUARDED_BY(mu) = 0;
  int64_t failures ABSL_GUARDED_BY(mu) = 0;
  // The failures that were reported.
  std::set<std::string> shown ABSL_GUARDED_BY(mu);
  std::vector<std::string> reports ABSL_GUARDED_BY(mu);
};

// The work of this thread, for a process that dies.
thread_local std::string current;

void SayWhereItDied(int) {
  std::cerr << "died at " << current << "\n";
  std::signal(SIGABRT, SIG_DFL);
  std::abort();
}

void FuzzOne(uint64_t seed, Statistics& statistics) {
  const Module module = RandomModule(seed, Features(seed));
  if (module.entry() == kNoComputation) return;
  const auto names = Passes().ids();
  const int64_t max_shown = FromEnvironment("HONE_FUZZ_SHOWN", kMaxShown);
  std::vector<std::vector<std::string>> orders;
  for (absl::string_view name : names) orders.push_back({std::string(name)});
  Rng rng(seed);
  for (int k = 0; k < kOrders; ++k) {
    orders.emplace_back();
    const uint64_t length =
        kShortestOrder + rng.Below(kLongestOrder - kShortestOrder + 1);
    for (uint64_t i = 0; i < length; ++i) {
      orders.back().emplace_back(names[rng.Below(names.size())]);
    }
  }
  for (const std::vector<std::string>& passes : orders) {
    std::set<std::string> changing;
    const FailingCase order{module, passes};
    current = absl::StrCat("seed ", seed, ": ", absl::StrJoin(passes, ","));
    const std::optional<OrderFailure> failure =
        CheckOrder(order, Find, &changing, Options());
    bool show = false;
    {
      absl::MutexLock lock(&statistics.mu);
      ++statistics.orders;
      if (passes.size() == 1 && !changing.empty()) {
        ++statistics.changed[passes[0]];
      }
      if (failure.has_value()) {
        ++statistics.failures;
        const std::string what =
            absl::StrCat(passes.size() == 1 ? passes[0] : "orders", " ",
                         static_cast<int>(failure->kind));
        show = static_cast<int64_t>(statistics.shown.size()) < max_shown &&
               statistics.shown.insert(what).second;
      }
    }
    if (!show) continue;
    std::string report = Report(order, *failure, seed);
    absl::MutexLock lock(&statistics.mu);
    statistics.reports.push_back(std::move(report));
  }
}

TEST(EquivalenceFuzz, PassesKeepTheMeaningOfRandomModules) {
  std::signal(SIGABRT, SayWhereItDied);
  Statistics statistics;
  const int64_t graphs = Graphs();
  const int64_t first = FirstGraph();
  {
    ThreadPool pool(std::max(1u, std::thread::hardware_concurrency()));
    for (int64_t seed = first; seed < first + graphs; ++seed) {
      pool.Schedule(
          [&, seed] { FuzzOne(static_cast<uint64_t>(seed), statistics); });
    }
  }
  absl::MutexLock lock(&statistics.mu);
  std::cout << graphs << " modules, " << statistics.orders
            << " orders; modules changed by pass:\n";
  const Numerics numerics = Options().rewrite.numerics;
  for (const PassEntry& pass : Passes()) {
    const int64_t changed = statistics.changed[std::string(pass.id)];
    std::cout << "  " << pass.id << " " << changed << "\n";
    if (numerics == Numerics::kExact &&
        pass.numeric_class != NumericClass::kExact) {
      continue;
    }
    EXPECT_GT(changed, 0) << pass.id << " is not tested by these modules";
  }
  EXPECT_EQ(statistics.failures, 0) << absl::StrJoin(statistics.reports, "\n");
}

TEST(EquivalenceFuzz, ModulesHaveEveryOpcodeThatTheEvaluatorRuns) {
  std::map<Opcode, int> seen;
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    const Module module = RandomModule(seed, {});
    for (const Computation& computation : module.computations()) {
      for (const Instruction& instruction : computation.instructions()) {
        ++seen[instruction.opcode()];
      }
    }
  }
  std::vector<absl::string_view> missing;
#define HONE_OPCODE(enumerator, name, arity, kind)           \
  if (evaluator::KernelFor(Opcode::enumerator) != nullptr && \
      !seen.contains(Opcode::enumerator)) {                  \
    missing.push_back(name);                                 \
  }
#include "hlo/ir/opcodes.def"
#undef HONE_OPCODE
  EXPECT_THAT(missing, IsEmpty()) << absl::StrJoin(missing, ", ");
}

int64_t CountNonFinite(const Literal& literal) {
  int64_t count = 0;
  for (const Literal& element : literal.elements()) {
    count += CountNonFinite(element);
  }
  if (!IsFloat(literal.shape().element_type())) return count;
  for (int64_t i = 0; i < literal.num_elements(); ++i) {
    count += std::isfinite(literal.AsDouble(i)) ? 0 : 1;
  }
  return count;
}

// NaN equals NaN, so a result full of them would show nothing.
TEST(EquivalenceFuzz, ModulesHaveFiniteResults) {
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    const Module module = RandomModule(seed, {});
    const absl::StatusOr<Literal> result =
        Evaluate(module, RandomArguments(module, seed).value());
    HONE_EXPECT_OK(result) << seed;
    if (!result.ok()) continue;
    EXPECT_EQ(CountNonFinite(*result), 0) << testing::RandomModuleText(seed);
  }
}

TEST(EquivalenceFuzz, ModulesDependOnTheSeedOnly) {
  EXPECT_EQ(testing::RandomModuleText(7), testing::RandomModuleText(7));
  EXPECT_NE(testing::RandomModuleText(7), testing::RandomModuleText(8));
}

// Modules of one feature at a time.
TEST(EquivalenceFuzz, EveryFeatureMakesValidModules) {
  for (int i = 0; i < testing::kFeatureCount; ++i) {
    const auto feature = static_cast<testing::Feature>(i);
    SCOPED_TRACE(testing::FeatureName(feature));
    testing::RandomModuleOptions options;
    options.set_amount(feature, 100);
    int different = 0;
    for (uint64_t seed = 0; seed < 40; ++seed) {
      const Module module = RandomModule(seed, options);
      if (module.entry() == kNoComputation) continue;
      different += testing::RandomModuleText(seed, options) !=
                           testing::RandomModuleText(seed)
                       ? 1
                       : 0;
      EvaluateOptions evaluate;
      evaluate.max_loop_steps = 10'000;
      const absl::StatusOr<Literal> result =
          Evaluate(module, RandomArguments(module, seed).value(), evaluate);
      if (!testing::IsStructuralOnly(feature)) {
        EXPECT_TRUE(result.ok()) << result.status() << "\n"
                                 << testing::RandomModuleText(seed, options);
      }
    }
    EXPECT_GT(different, 30);
  }
}

// Cases that once failed.
TEST(EquivalenceFuzz, RegressionsStayMended) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(
           fs::path(HONE_SOURCE_DIR) / "tests/testdata/fuzz_regressions")) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    SCOPED_TRACE(file);
    std::ifstream stream(file);
    const std::string text((std::istreambuf_iterator<char>(stream)), {});
    HONE_ASSERT_OK_AND_ASSIGN(const FailingCase order, ParseCase(text));
    const auto failure = CheckOrder(order, Find, nullptr);
    EXPECT_FALSE(failure.has_value()) << failure->pass << failure->message;
  }
}

}  // namespace
}  // namespace hone::hlo
