#include "cli/record_json.h"

#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"

#include "proto/duration.h"

namespace hone::cli {

nlohmann::ordered_json RecordToJson(const hone::v1::Record& record) {
  const absl::Time created =
      absl::FromUnixSeconds(record.create_time().seconds());
  return {
      {"name", record.name()},
      {"key",
       {{"module_fingerprint", record.key().module_fingerprint()},
        {"target", record.key().target()},
        {"task", record.key().task()},
        {"task_options", record.key().task_options()},
        {"space_version", record.key().space_version()}}},
      {"module", record.module_name()},
      {"default", {{"cost", record.default_cost()}, {"unit", record.unit()}}},
      {"best",
       {{"cost", record.best_cost()},
        {"unit", record.unit()},
        {"decision",
         nlohmann::ordered_json::parse(record.decision(), nullptr, false)}}},
      {"optimizer", record.optimizer()},
      {"seed", record.seed()},
      {"trials", record.trials()},
      {"seconds", absl::ToDoubleSeconds(FromProtoDuration(record.duration()))},
      {"verified",
       {{"method", record.verification().method()},
        {"max_rel_error", record.verification().max_rel_error()},
        {"measured_by",
         std::vector<std::string>(record.verification().measured_by().begin(),
                                  record.verification().measured_by().end())}}},
      {"tuning", record.tuning()},
      {"producer", record.producer()},
      {"created",
       absl::FormatTime(absl::RFC3339_sec, created, absl::UTCTimeZone())}};
}

std::string RecordToText(const hone::v1::Record& record) {
  return absl::StrFormat(
      "%s %s: %s, default %.10g %s, best %.10g %s, %d trials of %s, verified "
      "by %s",
      record.name(), record.module_name(), record.key().task(),
      record.default_cost(), record.unit(), record.best_cost(), record.unit(),
      record.trials(), record.optimizer(), record.verification().method());
}

}  // namespace hone::cli
