#include "daemon/config.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

// Debian's library of the same name is built with exceptions.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include <toml++/toml.h>

#include "base/excerpt.h"
#include "base/status_macros.h"
#include "daemon/access/addresses.h"
#include "optimizers/optimizer_text.h"
#include "optimizers/registry.h"

namespace hone::daemon {
namespace {

// Takes a value into the configuration, or says what it expected.
using Setter =
    std::function<std::optional<std::string>(const toml::node&, Config&)>;

Setter String(std::string Config::*field) {
  return [field](const toml::node& node,
                 Config& config) -> std::optional<std::string> {
    const auto* value = node.as_string();
    if (value == nullptr) return "a string";
    config.*field = value->get();
    return std::nullopt;
  };
}

// A key whose value is one string or several.
Setter Strings(std::vector<std::string> Config::*field) {
  return [field](const toml::node& node,
                 Config& config) -> std::optional<std::string> {
    std::vector<std::string> values;
    if (const auto* one = node.as_string(); one != nullptr) {
      values.push_back(one->get());
    } else if (const auto* list = node.as_array();
               list != nullptr &&
               (list->empty() || list->is_homogeneous<std::string>())) {
      for (const toml::node& value : *list) {
        values.push_back(value.as_string()->get());
      }
    } else {
      return "a string, or several as in [\"a\", \"b\"]";
    }
    config.*field = std::move(values);
    return std::nullopt;
  };
}

Setter Bool(bool Config::*field) {
  return [field](const toml::node& node,
                 Config& config) -> std::optional<std::string> {
    const auto* value = node.as_boolean();
    if (value == nullptr) return "true or false";
    config.*field = value->get();
    return std::nullopt;
  };
}

template <typename Struct, typename Int>
Setter Integer(Int Struct::*field, int64_t min, int64_t max) {
  return [=](const toml::node& node,
             Config& config) -> std::optional<std::string> {
    const auto* value = node.as_integer();
    if (value == nullptr || value->get() < min || value->get() > max) {
      return absl::StrCat("an integer from ", min, " to ", max);
    }
    config.*field = static_cast<Int>(value->get());
    return std::nullopt;
  };
}

template <typename Struct>
Setter Seconds(absl::Duration Struct::*field, int min, int max) {
  return [=](const toml::node& node,
             Config& config) -> std::optional<std::string> {
    const std::optional<double> value = node.value<double>();
    if (!value.has_value() || !(*value >= min && *value <= max)) {
      return absl::StrCat("seconds from ", min, " to ", max);
    }
    config.*field = absl::Seconds(*value);
    return std::nullopt;
  };
}

// 0 is forever.
Setter Days(absl::Duration Config::*field, int max) {
  return [=](const toml::node& node,
             Config& config) -> std::optional<std::string> {
    const std::optional<double> value = node.value<double>();
    if (!value.has_value() || !(*value >= 0 && *value <= max)) {
      return absl::StrCat("days from 0 (never) to ", max);
    }
    config.*field =
        *value == 0 ? absl::InfiniteDuration() : absl::Hours(24 * *value);
    return std::nullopt;
  };
}

Setter OptimizerName() {
  return [](const toml::node& node,
            Config& config) -> std::optional<std::string> {
    const auto* value = node.as_string();
    if (value == nullptr || !optimizers::ParseOptimizer(value->get()).ok()) {
      return absl::StrCat("one of: ",
                          absl::StrJoin(optimizers::Optimizers().ids(), ", "));
    }
    config.default_optimizer = value->get();
    return std::nullopt;
  };
}

Setter LogFormat() {
  return
      [](const toml::node& node, Config& config) -> std::optional<std::string> {
        const std::optional<std::string> value = node.value<std::string>();
        if (value != "text" && value != "json") return "\"text\" or \"json\"";
        config.log_json = value == "json";
        return std::nullopt;
      };
}

using Table = std::map<std::string, Setter, std::less<>>;

Table LimitKeys() {
  return {
#define HONE_LIMIT_KEY(type, name, unit, default_value, least, largest, code, \
                       reason, use, text)                                     \
  {#name, Integer(&LimitValues::name, least, largest)},
#define HONE_LIMIT_SECONDS(name, default_value, least, largest, code, reason, \
                           use, text)                                         \
  {#name "_seconds", Seconds(&LimitValues::name, least, largest)},
#include "daemon/limits.def"
  };
}

const std::map<std::string, Table, std::less<>>& Schema() {
  static const auto& schema = *new std::map<std::string, Table, std::less<>>{
      {"server",
       {{"listen", Strings(&Config::listen)},
        {"http", String(&Config::http)},
        {"http_hosts", Strings(&Config::http_hosts)},
        {"state", String(&Config::state)},
        {"reflection", Bool(&Config::reflection)}}},
      {"access",
       {{"tokens", String(&Config::tokens)},
        {"tls_cert", String(&Config::tls_cert)},
        {"tls_key", String(&Config::tls_key)},
        {"tls_client_ca", String(&Config::tls_client_ca)}}},
      {"limits", LimitKeys()},
      {"storage",
       {{"max_age_days", Days(&Config::max_age, 36'500)},
        {"max_bytes", Integer(&Config::max_store_bytes, 0, int64_t{1} << 60)}}},
      {"tuning",
       {{"default_optimizer", OptimizerName()},
        {"default_trials",
         Integer(&Config::default_trials, 1, 1'000'000'000)}}},
      {"workers",
       {{"lease_seconds", Seconds(&Config::worker_lease, 1, 3600)},
        {"local", Bool(&Config::local_worker)}}},
      {"drain",
       {{"delay_seconds", Seconds(&Config::drain_delay, 0, 3600)},
        {"grace_seconds", Seconds(&Config::drain_grace, 0, 3600)}}},
      {"log", {{"format", LogFormat()}, {"level", String(&Config::log_level)}}},
  };
  return schema;
}

template <typename Map>
std::string Names(const Map& map) {
  return absl::StrJoin(map, ", ", [](std::string* out, const auto& entry) {
    absl::StrAppend(out, entry.first);
  });
}

absl::Status ErrorAt(absl::string_view file_name,
                     const toml::source_region& where,
                     absl::string_view message) {
  return absl::InvalidArgumentError(
      absl::StrCat(file_name, ":", where.begin.line, ":", where.begin.column,
                   ": ", message));
}

absl::string_view View(std::string_view text) {
  return {text.data(), text.size()};
}

absl::Status CheckAccess(const Config& config) {
  if (config.tls_cert.empty() != config.tls_key.empty()) {
    return absl::InvalidArgumentError(
        "only one of access.tls_cert and access.tls_key, expected both");
  }
  if (!config.tls_client_ca.empty() && config.tls_cert.empty()) {
    return absl::InvalidArgumentError(
        "access.tls_client_ca without access.tls_cert, expected both");
  }
  HONE_RETURN_IF_ERROR(SplitAddress(config.http).status());
  for (const std::string& address : config.listen_addresses()) {
    if (UnixPath(address).has_value()) continue;
    const auto host_port = SplitAddress(address);
    if (!host_port.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("bad address \"", Excerpt(address),
                       "\" to listen at, expected unix:PATH or HOST:PORT"));
    }
    if (IsLoopbackHost(host_port->first)) continue;
    if (config.tls_cert.empty() || config.tokens.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          address,
          ": other machines can reach it, expected "
          "access.tls_cert, access.tls_key and access.tokens (or loopback)"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> Config::listen_addresses() const {
  if (!listen.empty()) return listen;
  return {absl::StrCat("unix:", SocketPath(state))};
}

absl::StatusOr<Config> ParseConfig(absl::string_view text,
                                   absl::string_view file_name) {
  const toml::parse_result parsed = toml::parse(
      std::string_view(text.data(), text.size()), std::string(file_name));
  if (!parsed) {
    return ErrorAt(
        file_name, parsed.error().source(),
        absl::StrCat(View(parsed.error().description()), ", expected TOML"));
  }
  Config config;
  for (const auto& [table_key, table_node] : parsed.table()) {
    const auto table = Schema().find(table_key.str());
    if (table == Schema().end()) {
      return ErrorAt(file_name, table_key.source(),
                     absl::StrCat("unknown table \"", View(table_key.str()),
                                  "\", expected one of: ", Names(Schema())));
    }
    if (!table_node.is_table()) {
      return ErrorAt(file_name, table_node.source(),
                     absl::StrCat("\"", View(table_key.str()),
                                  "\" is a value, expected a table"));
    }
    for (const auto& [key, node] : *table_node.as_table()) {
      const auto setter = table->second.find(key.str());
      if (setter == table->second.end()) {
        return ErrorAt(
            file_name, key.source(),
            absl::StrCat("unknown key \"", View(key.str()), "\" in [",
                         table->first,
                         "], expected one of: ", Names(table->second)));
      }
      if (const auto expected = setter->second(node, config)) {
        return ErrorAt(file_name, node.source(),
                       absl::StrCat("bad value of \"", View(key.str()),
                                    "\", expected ", *expected));
      }
    }
  }
  return config;
}

absl::StatusOr<Config> ReadConfig(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // An empty file has nothing to say, which is no error; << fails for it.
  if (!file || (file.peek() != EOF && !(text << file.rdbuf())) || file.bad()) {
    return absl::NotFoundError(
        absl::StrCat(path, ": cannot be read, expected a configuration file"));
  }
  return ParseConfig(text.str(), path);
}

absl::Status ValidateConfig(const Config& config) {
  constexpr absl::string_view kLevels[] = {"trace",   "debug", "info",
                                           "warning", "error", "off"};
  if (std::find(std::begin(kLevels), std::end(kLevels), config.log_level) ==
      std::end(kLevels)) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown log level \"", config.log_level,
                     "\", expected one of: ", absl::StrJoin(kLevels, ", ")));
  }
  if (config.state.empty()) {
    return absl::InvalidArgumentError("no state folder, expected --state DIR");
  }
  HONE_RETURN_IF_ERROR(CheckAccess(config));
  // Otherwise no client could ever upload the largest module.
  if (const int64_t room = std::min({config.max_bytes_in_flight,
                                     config.max_client_bytes_in_flight,
                                     config.max_upload_bytes});
      config.max_module_bytes > room) {
    return absl::InvalidArgumentError(absl::StrCat(
        "limits.max_module_bytes is ", config.max_module_bytes,
        ", expected at most max_upload_bytes, max_bytes_in_flight and "
        "max_client_bytes_in_flight, of which the least is ",
        room));
  }
  if (const auto optimizer =
          optimizers::ParseOptimizer(config.default_optimizer);
      !config.default_optimizer.empty() && !optimizer.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tuning.default_optimizer: ", optimizer.status().message()));
  }
  return absl::OkStatus();
}

}  // namespace hone::daemon
