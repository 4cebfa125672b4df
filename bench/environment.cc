#include "bench/environment.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include <grpcpp/grpcpp.h>

#include "base/clock.h"
#include "base/rng.h"
#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/cpu_time.h"
#include "daemon/config.h"
#include "daemon/server.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/analysis/op_count.h"
#include "hlo/passes/pipeline.h"
#include "hlo/passes/registry.h"
#include "hlo/read_module.h"
#include "hone/v1/environment_service.grpc.pb.h"
#include "proto/grpc_status.h"
#include "space/sequential_problem.h"
#include "storage/memory_store.h"
#include "tuning/registry.h"
#include "tuning/task.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;
using Stub = v1::EnvironmentService::Stub;

constexpr int32_t kWalkSteps = 32;
constexpr int32_t kBatch = 16;

absl::Duration Now() { return SystemClock().Monotonic(); }

// Random walks of passes.
class Walks {
 public:
  Walks(int32_t passes, uint64_t seed) : passes_(passes), rng_(seed) {}
  int32_t NextPass() {
    return static_cast<int32_t>(rng_.Below(static_cast<uint64_t>(passes_)));
  }
  std::vector<int32_t> Next() {
    std::vector<int32_t> walk(kWalkSteps);
    for (int32_t& pass : walk) pass = NextPass();
    return walk;
  }

 private:
  const int32_t passes_;
  Rng rng_;
};

struct Figures {
  int64_t steps = 0;
  absl::Duration time;

  double PerSecond() const {
    return static_cast<double>(steps) / absl::ToDoubleSeconds(time);
  }
};

// Steps of random walks through the problem, those that ran a pass; `changed`
// of them led to another state.
absl::StatusOr<Figures> StepInProcess(const space::SequentialProblem& problem,
                                      const EnvironmentOptions& options,
                                      int64_t& changed) {
  Walks walks(problem.action_count(), options.seed);
  Figures figures;
  while (figures.steps < options.steps) {
    space::StatePtr state = problem.InitialState();
    for (const int32_t action : walks.Next()) {
      const int64_t before = problem.evaluations();
      const absl::Duration start = ThreadCpuTime();
      HONE_ASSIGN_OR_RETURN(space::StatePtr next, problem.Step(state, action));
      const absl::Duration taken = ThreadCpuTime() - start;
      if (problem.evaluations() > before) {
        ++figures.steps;
        figures.time += taken;
        if (next != state) ++changed;
      }
      state = std::move(next);
    }
  }
  return figures;
}

// The parts of a step, in microseconds per step, over random walks; the
// memo's own part is missing.
absl::StatusOr<Json> StepParts(const hlo::Module& module,
                               const EnvironmentOptions& options) {
  const std::vector<absl::string_view> passes = hlo::Passes().ids();
  Walks walks(static_cast<int32_t>(passes.size()), options.seed);
  absl::Duration copy, pass, fingerprint, score, release;
  int64_t steps = 0;
  while (steps < options.steps) {
    hlo::Module state = module;
    for (const int32_t action : walks.Next()) {
      const absl::Duration start = ThreadCpuTime();
      hlo::Module next = state;
      const absl::Duration copied = ThreadCpuTime();
      HONE_ASSIGN_OR_RETURN(
          const hlo::PipelineReport report,
          hlo::RunPasses(next,
                         {std::string(passes[static_cast<size_t>(action)])}));
      const absl::Duration ran = ThreadCpuTime();
      absl::Duration counted = ran;
      if (report.changed) {
        // volatile: the results must be computed.
        [[maybe_unused]] volatile uint64_t key = hlo::FastFingerprint(next).low;
        const absl::Duration hashed = ThreadCpuTime();
        [[maybe_unused]] volatile int64_t ops = hlo::CountOps(next);
        counted = ThreadCpuTime();
        fingerprint += hashed - ran;
        score += counted - hashed;
      }
      copy += copied - start;
      pass += ran - copied;
      state = std::move(next);
      release += ThreadCpuTime() - counted;
      ++steps;
    }
  }
  const auto per_step = [&](absl::Duration total) {
    return absl::ToDoubleMicroseconds(total) / static_cast<double>(steps);
  };
  return Json{{"copy_us", per_step(copy)},
              {"pass_us", per_step(pass)},
              {"fingerprint_us", per_step(fingerprint)},
              {"score_us", per_step(score)},
              {"release_us", per_step(release)}};
}

// A daemon in this process and an environment at the initial state, of which
// every walk begins with a fork.
class Remote {
 public:
  static absl::StatusOr<std::unique_ptr<Remote>> Start(
      const std::string& module_bytes) {
    daemon::Config config;
    config.listen = {"127.0.0.1:0"};
    config.http = "127.0.0.1:0";
    auto remote = std::make_unique<Remote>();
    HONE_ASSIGN_OR_RETURN(
        remote->server_, daemon::Server::Start(
                             config, std::make_unique<storage::MemoryStore>()));
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    remote->stub_ = v1::EnvironmentService::NewStub(grpc::CreateCustomChannel(
        remote->server_->grpc_address(), grpc::InsecureChannelCredentials(),
        arguments));
    v1::OpenEnvironmentRequest request;
    request.mutable_module()->set_content(module_bytes);
    request.set_max_steps(kWalkSteps);
    HONE_ASSIGN_OR_RETURN(const auto opened,
                          remote->Call<v1::OpenEnvironmentResponse>(
                              &Stub::OpenEnvironment, request));
    remote->root_ = opened.environment().name();
    return remote;
  }

  template <typename Response, typename Method, typename Request>
  absl::StatusOr<Response> Call(Method method, const Request& request) {
    grpc::ClientContext context;
    Response response;
    HONE_RETURN_IF_ERROR(
        ToStatus((*stub_.*method)(&context, request, &response)));
    return response;
  }

  absl::StatusOr<std::string> Fork() {
    v1::ForkRequest request;
    request.set_name(root_);
    HONE_ASSIGN_OR_RETURN(const auto forked,
                          Call<v1::ForkResponse>(&Stub::Fork, request));
    return forked.environment().name();
  }
  absl::Status Close(const std::string& name) {
    v1::CloseRequest request;
    request.set_name(name);
    return Call<v1::CloseResponse>(&Stub::Close, request).status();
  }

 private:
  std::unique_ptr<daemon::Server> server_;
  std::unique_ptr<Stub> stub_;
  std::string root_;
};

struct WireRow {
  std::string name;
  int32_t actions;       // a request
  int32_t environments;  // a request
  bool graph;
};

absl::StatusOr<Figures> StepOverTheWire(Remote& remote, const WireRow& row,
                                        const EnvironmentOptions& options) {
  Walks walks(static_cast<int32_t>(hlo::Passes().ids().size()), options.seed);
  Figures figures;
  while (figures.steps < options.steps) {
    std::vector<std::string> names;
    std::vector<std::vector<int32_t>> taken;
    for (int32_t i = 0; i < row.environments; ++i) {
      HONE_ASSIGN_OR_RETURN(names.emplace_back(), remote.Fork());
      taken.push_back(walks.Next());
    }
    const absl::Duration start = Now();
    for (int32_t at = 0; at < kWalkSteps; at += row.actions) {
      v1::StepBatchRequest batch;
      for (size_t i = 0; i < names.size(); ++i) {
        v1::StepRequest& request = *batch.add_requests();
        request.set_name(names[i]);
        request.mutable_parts()->set_histogram(true);
        request.mutable_parts()->set_graph(row.graph);
        request.mutable_actions()->Add(taken[i].begin() + at,
                                       taken[i].begin() + at + row.actions);
      }
      if (row.environments == 1) {
        HONE_RETURN_IF_ERROR(
            remote.Call<v1::StepResponse>(&Stub::Step, batch.requests(0))
                .status());
      } else {
        HONE_RETURN_IF_ERROR(
            remote.Call<v1::StepBatchResponse>(&Stub::StepBatch, batch)
                .status());
      }
    }
    figures.time += Now() - start;
    figures.steps += kWalkSteps * row.environments;
    for (const std::string& name : names) {
      HONE_RETURN_IF_ERROR(remote.Close(name));
    }
  }
  return figures;
}

}  // namespace

absl::StatusOr<Json> RunEnvironmentBench(const EnvironmentOptions& options,
                                         std::ostream& out) {
  HONE_ASSIGN_OR_RETURN(const std::string bytes,
                        hlo::ReadFileBytes(options.module));
  HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                        hlo::ReadModuleFile(options.module));
  HONE_ASSIGN_OR_RETURN(const tuning::Task* task,
                        tuning::FindTask("pass_order"));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<space::Problem> problem,
                        task->MakeProblem(module, {}, {}));
  out << absl::StreamFormat("%s: %d instructions, %d passes\n", options.module,
                            module.instruction_count(),
                            hlo::Passes().ids().size());
  Json document = {{"bench", "environment"},
                   {"machine", DescribeMachine()},
                   {"module", options.module},
                   {"instructions", module.instruction_count()},
                   {"passes", hlo::Passes().ids().size()},
                   {"seed", options.seed}};
  Json rows = Json::array();
  const auto add = [&](absl::string_view name, const Figures& figures) {
    out << absl::StreamFormat("%-50s %8.0f steps/s (%d steps)\n", name,
                              figures.PerSecond(), figures.steps)
        << std::flush;
    rows.push_back({{"name", std::string(name)},
                    {"steps", figures.steps},
                    {"per_second", figures.PerSecond()}});
  };

  int64_t changed = 0;
  HONE_ASSIGN_OR_RETURN(
      const Figures in_process,
      StepInProcess(*problem->sequential(), options, changed));
  add("in process, one core, steps that run a pass", in_process);
  document["changed_share"] =
      static_cast<double>(changed) / static_cast<double>(in_process.steps);
  HONE_ASSIGN_OR_RETURN(const Json parts, StepParts(module, options));
  document["parts"] = parts;
  for (const auto& [name, microseconds] : parts.items()) {
    out << absl::StreamFormat("  %-10s %8.1f us a step\n",
                              name.substr(0, name.size() - 3),
                              microseconds.get<double>());
  }

  for (const WireRow& row :
       {WireRow{"gRPC, 1 action a request", 1, 1, false},
        WireRow{"gRPC, 32 actions a request", kWalkSteps, 1, false},
        WireRow{"gRPC, batches of 16 environments", 1, kBatch, false},
        WireRow{"gRPC, 1 action a request, with the graph", 1, 1, true},
        WireRow{"gRPC, batches of 16 environments, with the graph", 1, kBatch,
                true}}) {
    // A daemon of its own, so that no row finds what another has learned.
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Remote> remote,
                          Remote::Start(bytes));
    HONE_ASSIGN_OR_RETURN(const Figures figures,
                          StepOverTheWire(*remote, row, options));
    add(row.name, figures);
  }
  document["rows"] = std::move(rows);
  return document;
}

}  // namespace hone::bench
