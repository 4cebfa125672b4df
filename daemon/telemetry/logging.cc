#include "daemon/telemetry/logging.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include <grpc/support/log.h>
#include <nlohmann/json.hpp>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/trace_context.h"

namespace hone::daemon {
namespace {

// %J: the message as a JSON string.
class JsonMessage final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& out) override {
    const std::string text =
        nlohmann::json(
            std::string(message.payload.data(), message.payload.size()))
            .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<JsonMessage>();
  }
};

// %Q: the traceparent of the thread, if it has one, as text or a JSON member.
class Trace final : public spdlog::custom_flag_formatter {
 public:
  explicit Trace(bool json) : json_(json) {}
  void format(const spdlog::details::log_msg&, const std::tm&,
              spdlog::memory_buf_t& out) override {
    const absl::string_view trace = CurrentTraceparent();
    if (trace.empty()) return;
    const std::string text =
        json_ ? absl::StrCat(",\"traceparent\":\"", trace, "\"")
              : absl::StrCat(" traceparent=", trace);
    out.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<Trace>(json_);
  }

 private:
  const bool json_;
};

// gRPC also returns or retries the errors that it logs.
void LogForGrpc(gpr_log_func_args* args) {
  spdlog::debug("grpc: {}", args->message);
}

}  // namespace

void SetUpLogging(const Config& config) {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<Trace>('Q', config.log_json);
  if (config.log_json) {
    formatter->add_flag<JsonMessage>('J').set_pattern(
        R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l","message":%J%Q})");
  } else {
    formatter->set_pattern("%Y-%m-%d %H:%M:%S.%e %l %v%Q");
  }
  auto logger = std::make_shared<spdlog::logger>(
      "honed", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_formatter(std::move(formatter));
  logger->set_level(spdlog::level::from_str(config.log_level));
  spdlog::set_default_logger(std::move(logger));
  gpr_set_log_function(LogForGrpc);
}

}  // namespace hone::daemon
