#include "costmodels/loop_features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "absl/strings/str_cat.h"

#include "costmodels/log_scale.h"
#include "costmodels/loop_graph.h"
#include "costmodels/loop_roofline.h"
#include "costmodels/loop_work.h"

namespace hone::costmodels {
namespace {

constexpr absl::string_view kOperationNames[] = {"float", "integer", "convert",
                                                 "divide", "transcendental"};
static_assert(std::size(kOperationNames) == kOperationKinds);
constexpr absl::string_view kFormNames[] = {
    "register", "scalar", "broadcast", "contiguous", "scattered", "transposed"};
static_assert(std::size(kFormNames) == kAccessForms);
constexpr absl::string_view kCacheNames[] = {"l1", "l2", "l3"};
static_assert(std::size(kCacheNames) == kCacheCount);

// Doublings that span what each quantity may be.
constexpr float kCount = 40;  // of executions, instructions, bytes
constexpr float kSmall = 12;  // of what is there in code
constexpr float kNs = 32;     // nanoseconds
constexpr float kRatio = 12;  // between two quantities

// The statements that are described one by one.
constexpr size_t kHotStatements = 3;

float Log(double value, float doublings) { return LogScale(value, doublings); }

// The logarithm of a ratio, with a sign.
float LogRatio(double a, double b) {
  const double doublings =
      std::log2(1 + std::max(a, 0.0)) - std::log2(1 + std::max(b, 0.0));
  return static_cast<float>(std::clamp(doublings / kRatio, -1.0, 1.0));
}

float Flag(bool set) { return set ? 1.0F : 0.0F; }

// Values in order, and their names if asked for.
class List {
 public:
  explicit List(std::vector<std::string>* names) : names_(names) {}

  // The name is `name`, then `part`.
  void Add(absl::string_view name, float value, absl::string_view part = "") {
    values_.push_back(std::isfinite(value) ? value : 0.0F);
    if (names_ != nullptr) {
      names_->push_back(
          absl::StrCat(prefix_, name, part.empty() ? "" : "_", part));
    }
  }
  void set_prefix(absl::string_view prefix) { prefix_ = std::string(prefix); }
  std::vector<float> TakeValues() { return std::move(values_); }

 private:
  std::vector<float> values_;
  std::vector<std::string>* const names_;
  std::string prefix_;
};

class KernelList {
 public:
  KernelList(const LoopWork& work, const LoopTimes& times,
             const loops::Machine& machine, std::vector<std::string>* names)
      : work_(work), times_(times), machine_(machine), list_(names) {}

  std::vector<float> Values() {
    AddTimes();
    AddOperations();
    AddAccesses();
    AddLoops();
    AddHotStatements();
    return list_.TakeValues();
  }

 private:
  void AddTimes() {
    list_.Add("ns", Log(times_.ns, kNs));
    for (size_t l = 0; l < kLoopLimits; ++l) {
      list_.Add("ns", Log(times_.by_limit[l], kNs),
                LoopLimitName(static_cast<LoopLimit>(l)));
    }
    for (size_t l = 0; l < kLoopLimits; ++l) {
      list_.Add(
          "share",
          static_cast<float>(times_.by_limit[l] / std::max(times_.ns, 1e-9)),
          LoopLimitName(static_cast<LoopLimit>(l)));
    }
  }

  void AddOperations() {
    std::array<double, kOperationKinds> operations = {};
    std::array<double, kOperationKinds> instructions = {};
    double scalar = 0;
    double all = 0;
    double partial = 0;
    double conditions = 0;
    double predicated = 0;
    double reductions = 0;
    double copied_bytes = 0;
    double non_temporal = 0;
    double fewest_chains = 1e9;
    double links = 0;
    for (const StatementWork& s : work_.statements) {
      double own = 0;
      for (size_t kind = 0; kind < kOperationKinds; ++kind) {
        operations[kind] += s.operations[kind] * s.executions;
        instructions[kind] += s.instructions[kind];
        own += s.instructions[kind];
      }
      all += own;
      if (s.lanes <= 1) scalar += own;
      const double bytes = s.lanes * s.element_bytes;
      const auto vector_bytes = static_cast<double>(machine_.vector_bytes);
      if (s.lanes > 1 && std::fmod(bytes, vector_bytes) != 0) partial += own;
      conditions += s.conditions * s.executions / s.lanes;
      if (s.is_predicated) predicated += s.executions;
      if (s.is_copy) copied_bytes += s.executions * s.element_bytes;
      if (s.non_temporal) non_temporal += s.executions * s.element_bytes;
      if (s.is_reduction) {
        reductions += s.executions;
        if (s.chains > 0 && s.chain_length > 1) {
          fewest_chains = std::min(fewest_chains, s.chains);
          links += s.executions / s.lanes / s.chains;
        }
      }
    }
    for (size_t kind = 0; kind < kOperationKinds; ++kind) {
      list_.Add("operations", Log(operations[kind], kCount),
                kOperationNames[kind]);
    }
    for (size_t kind = 0; kind < kOperationKinds; ++kind) {
      list_.Add("instructions", Log(instructions[kind], kCount),
                kOperationNames[kind]);
    }
    list_.Add("instructions", Log(all, kCount));
    list_.Add("scalar_share", static_cast<float>(scalar / std::max(all, 1.0)));
    list_.Add("partial_vector_share",
              static_cast<float>(partial / std::max(all, 1.0)));
    list_.Add("conditions", Log(conditions, kCount));
    list_.Add("predicated", Log(predicated, kCount));
    list_.Add("reductions", Log(reductions, kCount));
    list_.Add("copied_bytes", Log(copied_bytes, kCount));
    list_.Add("non_temporal_bytes", Log(non_temporal, kCount));
    list_.Add("fewest_chains",
              fewest_chains >= 1e9 ? 1.0F : Log(fewest_chains, kSmall));
    list_.Add("chain_links", Log(links, kCount));
    for (const AccessWork& access : work_.accesses) all += access.instructions;
    list_.Add("serial_links", Log(work_.serial_links, kCount));
    list_.Add("between_links", LogRatio(all, work_.serial_links));
    operations_ = std::accumulate(operations.begin(), operations.end(), 0.0);
  }

  void AddAccesses() {
    // [is_store][form]
    std::array<std::array<double, kAccessForms>, 2> instructions = {};
    std::array<double, 2> elements = {};
    std::array<PerCache, 2> traffic = {};
    double dependent = 0;
    double register_scattered = 0;
    double streams = 1;
    PerCache stream_traffic = {};
    double all = 0;
    double masked = 0;
    double stored = 0;
    double non_temporal = 0;
    double footprint = 0;
    double most_stride = 0;
    for (const StatementWork& s : work_.statements) {
      for (size_t a = s.first_access; a < s.first_access + s.access_count;
           ++a) {
        const AccessWork& access = work_.accesses[a];
        const size_t way = access.is_store ? 1 : 0;
        instructions[way][static_cast<size_t>(access.form)] +=
            access.form == AccessForm::kRegister ? s.executions / s.lanes
                                                 : access.instructions;
        elements[way] += access.elements;
        for (size_t c = 0; c < kCacheCount; ++c) {
          traffic[way][c] += access.traffic[c];
        }
        all += access.instructions;
        masked += access.instructions * s.masked_share;
        if (s.stored_masked) stored += access.instructions;
        if (access.non_temporal) {
          non_temporal += access.elements * access.element_bytes;
        }
        if (access.data_dependent) dependent += access.instructions;
        if (access.register_scattered) {
          register_scattered += access.instructions;
        }
        if (access.traffic[0] > 0) streams = std::max(streams, access.streams);
        for (size_t c = 0; c < kCacheCount && access.streams > 1; ++c) {
          stream_traffic[c] += access.traffic[c];
        }
        footprint += access.footprint;
        most_stride = std::max(most_stride, access.innermost_stride);
      }
    }
    constexpr absl::string_view kWays[] = {"load", "store"};
    for (size_t way = 0; way < 2; ++way) {
      for (size_t form = 0; form < kAccessForms; ++form) {
        list_.Add(absl::StrCat(kWays[way], "s"),
                  Log(instructions[way][form], kCount), kFormNames[form]);
      }
      list_.Add(absl::StrCat(kWays[way], "_elements"),
                Log(elements[way], kCount));
      for (size_t c = 0; c < kCacheCount; ++c) {
        list_.Add(absl::StrCat(kWays[way], "_traffic"),
                  Log(traffic[way][c], kCount), kCacheNames[c]);
      }
    }
    list_.Add("data_dependent", Log(dependent, kCount));
    list_.Add("register_scattered", Log(register_scattered, kCount));
    list_.Add("masked_share", static_cast<float>(masked / std::max(all, 1.0)));
    list_.Add("stored_masked", Log(stored, kCount));
    list_.Add("streams", Log(streams, kSmall));
    for (size_t c = 0; c < kCacheCount; ++c) {
      list_.Add("stream_traffic", Log(stream_traffic[c], kCount),
                kCacheNames[c]);
    }
    list_.Add("footprint", Log(footprint, kCount));
    list_.Add("most_stride", Log(most_stride, kCount));
    for (size_t c = 0; c < kCacheCount; ++c) {
      list_.Add("intensity",
                LogRatio(operations_, traffic[0][c] + traffic[1][c]),
                kCacheNames[c]);
    }
    list_.Add("intensity", LogRatio(operations_, footprint), "footprint");
    const double set = work_.levels[0].working_set;
    list_.Add("working_set", Log(set, kCount));
    const PerCache caches = CacheBytes(machine_);
    for (size_t c = 0; c < kCacheCount; ++c) {
      list_.Add("working_set", LogRatio(set, caches[c]), kCacheNames[c]);
    }
    // Stores that bypass caches that would hold everything.
    for (size_t c = 1; c < kCacheCount; ++c) {
      list_.Add("non_temporal_fitting",
                Log(set <= caches[c] ? non_temporal : 0, kCount),
                kCacheNames[c]);
    }
  }

  void AddLoops() {
    double parallel = 0;
    double parallel_trips = 0;
    double prefetched = 0;
    double bounded = 0;
    double vectors = 0;
    double unrolled = 0;
    double entries = 0;
    double shortest = 1e9;
    // The largest working sets of an iteration that still fit each cache, and
    // the branches of loops that do not.
    PerCache fitting = {};
    const PerCache caches = CacheBytes(machine_);
    for (size_t i = 1; i < work_.levels.size(); ++i) {
      const LoopLevel& level = work_.levels[i];
      const loops::Loop& loop = *level.loop;
      const bool is_vector = loop.mode == loops::LoopMode::kVector;
      const bool is_unrolled = loop.mode == loops::LoopMode::kUnrolled;
      if (loop.mode == loops::LoopMode::kParallel) {
        ++parallel;
        parallel_trips = std::max(parallel_trips, level.trips);
      }
      if (loop.prefetch > 0) prefetched += level.entries * level.trips;
      if (loop.bound.has_value()) bounded += level.entries;
      vectors += is_vector ? 1 : 0;
      unrolled += is_unrolled ? 1 : 0;
      if (is_vector || is_unrolled) continue;
      entries += level.entries;
      shortest = std::min(shortest, level.trips);
      for (size_t c = 0; c < kCacheCount; ++c) {
        if (level.working_set <= caches[c]) {
          fitting[c] = std::max(fitting[c], level.working_set);
        }
      }
    }
    list_.Add("loops", Log(static_cast<double>(work_.levels.size()), kSmall));
    list_.Add("statements",
              Log(static_cast<double>(work_.statements.size()), kSmall));
    list_.Add("accesses",
              Log(static_cast<double>(work_.accesses.size()), kSmall));
    list_.Add("vector_loops", Log(vectors, kSmall));
    list_.Add("unrolled_loops", Log(unrolled, kSmall));
    list_.Add("parallel_loops", Log(parallel, kSmall));
    list_.Add("parallel_trips", Log(parallel_trips, kCount));
    list_.Add("thread_share", static_cast<float>(work_.thread_share));
    list_.Add("prefetched", Log(prefetched, kCount));
    list_.Add("bounded_entries", Log(bounded, kCount));
    list_.Add("entries", Log(entries, kCount));
    list_.Add("branches", Log(work_.branches, kCount));
    list_.Add("shortest_trips", shortest >= 1e9 ? 1.0F : Log(shortest, kCount));
    for (size_t c = 0; c < kCacheCount; ++c) {
      list_.Add("fitting_set", LogRatio(fitting[c], caches[c]), kCacheNames[c]);
    }
    list_.Add("code", Log(work_.code_instructions, 20));
    list_.Add("registers",
              LogRatio(work_.registers,
                       static_cast<double>(machine_.vector_registers)));
    constexpr absl::string_view kLocals[] = {"heap", "stack", "register"};
    for (size_t m = 0; m < std::size(kLocals); ++m) {
      list_.Add("local_bytes", Log(work_.local_bytes[m], kCount), kLocals[m]);
    }
    list_.Add("threads", Log(machine_.threads, kSmall));
  }

  void AddHotStatements() {
    std::vector<size_t> order(work_.statements.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const size_t count = std::min(kHotStatements, order.size());
    std::partial_sort(order.begin(),
                      order.begin() + static_cast<std::ptrdiff_t>(count),
                      order.end(), [&](size_t a, size_t b) {
                        const double left = times_.statement_ns[a];
                        const double right = times_.statement_ns[b];
                        return left != right ? left > right : a < b;
                      });
    static const StatementWork kNone;
    for (size_t i = 0; i < kHotStatements; ++i) {
      list_.set_prefix(absl::StrCat("hot", i, "_"));
      AddHot(i < count ? work_.statements[order[i]] : kNone,
             i < count ? times_.statement_ns[order[i]] : 0);
    }
    list_.set_prefix("");
  }

  void AddHot(const StatementWork& s, double ns) {
    list_.Add("ns", Log(ns, kNs));
    list_.Add("share", static_cast<float>(ns / std::max(times_.ns, 1e-9)));
    list_.Add("executions", Log(s.executions, kCount));
    list_.Add("lanes", Log(s.lanes, kSmall));
    list_.Add("element_bytes", Log(s.element_bytes, 5));
    list_.Add("vector_fill",
              LogRatio(s.lanes * s.element_bytes,
                       static_cast<double>(machine_.vector_bytes)));
    list_.Add("copies", Log(s.copies, kSmall));
    for (size_t kind = 0; kind < kOperationKinds; ++kind) {
      list_.Add("operations", Log(s.operations[kind], 8),
                kOperationNames[kind]);
    }
    list_.Add("conditions", Log(s.conditions, 6));
    list_.Add("is_copy", Flag(s.is_copy));
    list_.Add("is_reduction", Flag(s.is_reduction));
    list_.Add("is_dot", Flag(s.is_dot));
    list_.Add("is_kept", Flag(s.is_kept));
    list_.Add("lane_sums", Log(s.lane_sums, kCount));
    list_.Add("is_predicated", Flag(s.is_predicated));
    list_.Add("non_temporal", Flag(s.non_temporal));
    list_.Add("masked_share", static_cast<float>(s.masked_share));
    list_.Add("stored_masked", Flag(s.stored_masked));
    list_.Add("chains", Log(s.chains, kSmall));
    list_.Add("chain_length", Log(s.chain_length, 24));
    // Loops around it: the innermost ones that are loops in the code.
    std::array<double, 3> trips = {};
    std::array<double, 3> sets = {};
    size_t found = 0;
    double depth = 0;
    for (int32_t i = s.level; i > 0;
         i = work_.levels[static_cast<size_t>(i)].parent) {
      const LoopLevel& level = work_.levels[static_cast<size_t>(i)];
      ++depth;
      if (level.loop->mode == loops::LoopMode::kUnrolled ||
          level.loop->mode == loops::LoopMode::kVector) {
        continue;
      }
      if (found < trips.size()) {
        trips[found] = level.trips;
        sets[found] = level.working_set;
        ++found;
      }
    }
    list_.Add("depth", Log(depth, 5));
    for (size_t i = 0; i < trips.size(); ++i) {
      list_.Add("trips", Log(trips[i], 24), absl::StrCat(i));
    }
    for (size_t i = 0; i < sets.size(); ++i) {
      list_.Add("set", Log(sets[i], kCount), absl::StrCat(i));
    }
    std::array<double, kAccessForms> loads = {};
    std::array<double, kAccessForms> stores = {};
    PerCache traffic = {};
    double reuse = 0;
    double stride = 0;
    double lane_stride = 0;
    double dependent = 0;
    bool register_scattered = false;
    double streams = 0;
    for (size_t a = s.first_access; a < s.first_access + s.access_count; ++a) {
      const AccessWork& access = work_.accesses[a];
      (access.is_store ? stores : loads)[static_cast<size_t>(access.form)] += 1;
      for (size_t c = 0; c < kCacheCount; ++c) traffic[c] += access.traffic[c];
      reuse = std::max(reuse, access.elements * access.element_bytes /
                                  std::max(access.footprint, 1.0));
      stride = std::max(stride, access.innermost_stride);
      lane_stride = std::max(lane_stride, access.lane_stride);
      if (access.data_dependent) ++dependent;
      register_scattered |= access.register_scattered;
      streams = std::max(streams, access.streams);
    }
    for (size_t form = 0; form < kAccessForms; ++form) {
      list_.Add("loads", Log(loads[form], 6), kFormNames[form]);
    }
    for (size_t form = 0; form < kAccessForms; ++form) {
      list_.Add("stores", Log(stores[form], 6), kFormNames[form]);
    }
    for (size_t c = 0; c < kCacheCount; ++c) {
      list_.Add("traffic", Log(traffic[c], kCount), kCacheNames[c]);
    }
    list_.Add("reuse", Log(reuse, 24));
    list_.Add("stride", Log(stride, 24));
    list_.Add("lane_stride", Log(lane_stride, 24));
    list_.Add("data_dependent", Log(dependent, 4));
    list_.Add("register_scattered", Flag(register_scattered));
    list_.Add("streams", Log(streams, kSmall));
  }

  const LoopWork& work_;
  const LoopTimes& times_;
  const loops::Machine& machine_;
  List list_;
  double operations_ = 0;
};

// What nodes of a graph have besides what loop_graph.h tells of them.
class NodeList {
 public:
  NodeList(const LoopWork& work, const LoopTimes& times,
           const loops::Machine& machine)
      : work_(work), times_(times), caches_(CacheBytes(machine)) {}

  // Null: a node without work, a buffer.
  std::vector<float> Values(const LoopLevel* level,
                            const StatementWork* statement, double ns,
                            const AccessWork* access,
                            std::vector<std::string>* names) const {
    static const LoopLevel kNoLevel = {
        .parent = -1, .loop = nullptr, .trips = 0, .entries = 0};
    static const StatementWork kNoStatement = {.lanes = 0, .copies = 0};
    static const AccessWork kNoAccess;
    const LoopLevel& l = level != nullptr ? *level : kNoLevel;
    const StatementWork& s = statement != nullptr ? *statement : kNoStatement;
    const AccessWork& a = access != nullptr ? *access : kNoAccess;
    List list(names);
    list.Add("trips", Log(l.trips, kCount));
    list.Add("entries", Log(l.entries, kCount));
    list.Add("cut_share", static_cast<float>(l.cut_share));
    list.Add("working_set", Log(l.working_set, kCount));
    list.Add("iteration_set", Log(l.iteration_set, kCount));
    for (size_t c = 0; c < kCacheCount; ++c) {
      list.Add("working_set",
               level == nullptr ? 0.0F : LogRatio(l.working_set, caches_[c]),
               kCacheNames[c]);
      list.Add("iteration_set",
               level == nullptr ? 0.0F : LogRatio(l.iteration_set, caches_[c]),
               kCacheNames[c]);
    }
    list.Add("ns", Log(ns, kNs));
    list.Add("share", static_cast<float>(ns / std::max(times_.ns, 1e-9)));
    list.Add("executions", Log(s.executions, kCount));
    list.Add("lanes", Log(s.lanes, kSmall));
    list.Add("copies", Log(s.copies, kSmall));
    for (size_t kind = 0; kind < kOperationKinds; ++kind) {
      list.Add("operations", Log(s.operations[kind], 8), kOperationNames[kind]);
    }
    for (size_t kind = 0; kind < kOperationKinds; ++kind) {
      list.Add("instructions", Log(s.instructions[kind], kCount),
               kOperationNames[kind]);
    }
    list.Add("copy", Flag(s.is_copy));
    list.Add("dot", Flag(s.is_dot));
    list.Add("kept", Flag(s.is_kept));
    list.Add("masked_share", static_cast<float>(s.masked_share));
    list.Add("stored_masked", Flag(s.stored_masked));
    list.Add("lane_sums", Log(s.lane_sums, kCount));
    list.Add("chains", Log(s.chains, kSmall));
    list.Add("chain_length", Log(s.chain_length, 24));
    for (size_t form = 0; form < kAccessForms; ++form) {
      list.Add("form",
               Flag(access != nullptr && static_cast<size_t>(a.form) == form),
               kFormNames[form]);
    }
    list.Add("access_instructions", Log(a.instructions, kCount));
    list.Add("elements", Log(a.elements, kCount));
    list.Add("footprint", Log(a.footprint, kCount));
    list.Add(
        "reuse",
        Log(a.footprint > 0 ? a.elements * a.element_bytes / a.footprint : 0,
            24));
    list.Add("step_bytes", Log(a.innermost_stride, 24));
    list.Add("lane_bytes", Log(a.lane_stride, 24));
    for (size_t c = 0; c < kCacheCount; ++c) {
      list.Add("traffic", Log(a.traffic[c], kCount), kCacheNames[c]);
    }
    list.Add("register_scattered", Flag(a.register_scattered));
    list.Add("streams", Log(access != nullptr ? a.streams : 0, kSmall));
    return list.TakeValues();
  }

 private:
  const LoopWork& work_;
  const LoopTimes& times_;
  const PerCache caches_;
};

enum class NodeClass { kLevel, kStatement, kAccess, kOther };

// By kind of loop_graph.h.
std::vector<NodeClass> NodeClasses() {
  std::vector<NodeClass> classes;
  for (const std::string& name : KernelObservationSpec().node_kind_names) {
    classes.push_back(name == "kernel" || name == "loop" ? NodeClass::kLevel
                      : name == "statement"              ? NodeClass::kStatement
                      : name == "load" || name == "store" ? NodeClass::kAccess
                                                          : NodeClass::kOther);
  }
  return classes;
}

space::Observation GraphOf(const loops::Program& program,
                           const loops::Machine& machine, const LoopWork& work,
                           const LoopTimes& times) {
  static const auto* const classes = new std::vector<NodeClass>(NodeClasses());
  space::Observation graph = ObserveKernel(program, machine).observation;
  const auto width = static_cast<size_t>(KernelObservationSpec().node_features);
  const NodeList list(work, times, machine);
  std::vector<float> features;
  // Nodes of each class are in the order of the program.
  size_t level = 0;
  size_t statement = 0;
  size_t access = 0;
  for (size_t node = 0; node < graph.node_kinds.size(); ++node) {
    features.insert(
        features.end(),
        graph.node_features.begin() + static_cast<std::ptrdiff_t>(node * width),
        graph.node_features.begin() +
            static_cast<std::ptrdiff_t>((node + 1) * width));
    std::vector<float> further;
    int32_t& kind = graph.node_kinds[node];
    switch ((*classes)[static_cast<size_t>(kind)]) {
      case NodeClass::kLevel:
        further =
            list.Values(&work.levels[level++], nullptr, 0, nullptr, nullptr);
        break;
      case NodeClass::kStatement:
        further = list.Values(nullptr, &work.statements[statement],
                              times.statement_ns[statement], nullptr, nullptr);
        ++statement;
        break;
      case NodeClass::kAccess:
        further =
            list.Values(nullptr, nullptr, 0, &work.accesses[access++], nullptr);
        break;
      default:
        further = list.Values(nullptr, nullptr, 0, nullptr, nullptr);
    }
    features.insert(features.end(), further.begin(), further.end());
    // Kind 0 is that of unknown nodes.
    ++kind;
  }
  graph.node_features = std::move(features);
  return graph;
}

}  // namespace

const space::ObservationSpec& LoopFeaturesSpec() {
  static const auto* const spec = [] {
    auto* const made = new space::ObservationSpec(KernelObservationSpec());
    made->node_kind_names.insert(made->node_kind_names.begin(), "unknown");
    ++made->node_kinds;
    LoopWork work;
    work.levels.emplace_back();
    const LoopTimes times;
    std::vector<std::string> names;
    NodeList(work, times, {}).Values(nullptr, nullptr, 0, nullptr, &names);
    for (const std::string& name : names) {
      made->node_feature_names.push_back(absl::StrCat("work_", name));
    }
    made->node_features = static_cast<int32_t>(made->node_feature_names.size());
    return made;
  }();
  return *spec;
}

const std::vector<std::string>& LoopFeatureNames() {
  static const auto* const names = [] {
    auto* const made = new std::vector<std::string>;
    LoopWork work;
    work.levels.emplace_back();
    const LoopTimes times;
    KernelList(work, times, {}, made).Values();
    return made;
  }();
  return *names;
}

LoopFeatures LoopFeaturesOf(const loops::Program& program,
                            const loops::Machine& machine) {
  const LoopWork work = CountLoopWork(program, machine);
  const LoopTimes times = PredictLoopTimes(work, machine);
  return {.graph = GraphOf(program, machine, work, times),
          .kernel = KernelList(work, times, machine, nullptr).Values(),
          .roofline_ns = times.ns};
}

std::vector<float> KernelLoopFeatures(const loops::Program& program,
                                      const loops::Machine& machine) {
  const LoopWork work = CountLoopWork(program, machine);
  const LoopTimes times = PredictLoopTimes(work, machine);
  return KernelList(work, times, machine, nullptr).Values();
}

}  // namespace hone::costmodels
