// hone cache: manages results, through the daemon.

#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/record_json.h"

#include "base/status_macros.h"

namespace hone::cli {
namespace {

// Adds an option that takes a time as RFC 3339 or a date, in UTC.
void AddTime(CLI::App& command, const char* option, const char* description,
             const std::function<google::protobuf::Timestamp*()>& field) {
  command
      .add_option_function<std::string>(
          option,
          [field, name = std::string(option)](const std::string& text) {
            absl::Time time;
            std::string ignored;
            if (!absl::ParseTime(absl::RFC3339_full, text, &time, &ignored) &&
                !absl::ParseTime("%Y-%m-%d", text, &time, &ignored)) {
              throw CLI::ValidationError(
                  name, absl::StrCat("'", text,
                                     "', expected 2026-01-31 or "
                                     "2026-01-31T12:00:00Z"));
            }
            field()->set_seconds(absl::ToUnixSeconds(time));
            field()->set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(
                time - absl::FromUnixSeconds(absl::ToUnixSeconds(time)))));
          },
          description)
      ->type_name("TIME");
}

void AddFilter(CLI::App& command, hone::v1::RecordFilter& filter) {
  const auto add = [&](const char* option, const char* description,
                       std::string* field) {
    command.add_option(option, *field, description);
  };
  add("--module", "Module fingerprint", filter.mutable_module_fingerprint());
  add("--target", "Target", filter.mutable_target());
  add("--task", "Task", filter.mutable_task());
  add("--producer", "Version and host that published it",
      filter.mutable_producer());
  add("--measured-by",
      "Machine that measured it: machine_id of hone list workers --json",
      filter.mutable_measured_by());
  AddTime(command, "--after", "Published then or later",
          [&filter] { return filter.mutable_created_after(); });
  AddTime(command, "--before", "Published earlier than that",
          [&filter] { return filter.mutable_created_before(); });
}

void AddList(CLI::App& parent, Context& context) {
  auto filter = std::make_shared<hone::v1::RecordFilter>();
  CLI::App* command =
      AddCommand(parent, context, "list", "List records, newest first");
  AddFilter(*command, *filter);
  command->callback([filter, &context] {
    RunCommand(context, [&]() -> absl::StatusOr<int> {
      Client client(context);
      hone::v1::ListRecordsRequest request;
      *request.mutable_filter() = *filter;
      nlohmann::ordered_json records = nlohmann::ordered_json::array();
      do {
        HONE_ASSIGN_OR_RETURN(const hone::v1::ListRecordsResponse page,
                              client.ListRecords(request));
        for (const hone::v1::Record& record : page.records()) {
          if (context.json) {
            records.push_back(RecordToJson(record));
          } else {
            std::cout << RecordToText(record) << "\n";
          }
        }
        request.set_page_token(page.next_page_token());
      } while (!request.page_token().empty());
      if (context.json) PrintJson({{"records", records}});
      return kDone;
    });
  });
}

constexpr const char* kNameHelp = "Its name, as hone cache list prints it";

void AddShow(CLI::App& parent, Context& context) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = AddCommand(parent, context, "show", "Show a record");
  command->add_option("NAME", *name, kNameHelp)->required();
  command->callback([name, &context] {
    RunCommand(context, [&]() -> absl::StatusOr<int> {
      HONE_ASSIGN_OR_RETURN(const hone::v1::Record record,
                            Client(context).GetRecord(*name));
      if (context.json) {
        PrintJson(RecordToJson(record));
      } else {
        std::cout << RecordToText(record) << "\n" << record.decision() << "\n";
      }
      return kDone;
    });
  });
}

void AddDelete(CLI::App& parent, Context& context) {
  auto name = std::make_shared<std::string>();
  CLI::App* command =
      AddCommand(parent, context, "delete", "Remove a record from the cache");
  command->add_option("NAME", *name, kNameHelp)->required();
  command->callback([name, &context] {
    RunCommand(context, [&]() -> absl::StatusOr<int> {
      HONE_RETURN_IF_ERROR(Client(context).DeleteRecord(*name));
      if (context.json) {
        PrintJson({{"removed", 1}});
      } else {
        std::cout << *name << " removed\n";
      }
      return kDone;
    });
  });
}

void AddInvalidate(CLI::App& parent, Context& context) {
  auto filter = std::make_shared<hone::v1::RecordFilter>();
  auto all = std::make_shared<bool>(false);
  CLI::App* command = AddCommand(parent, context, "invalidate",
                                 "Remove records from the cache");
  AddFilter(*command, *filter);
  command->add_flag("--all", *all, "Every record");
  command->callback([filter, all, &context] {
    RunCommand(context, [&]() -> absl::StatusOr<int> {
      if (!*all && filter->ByteSizeLong() == 0) {
        return absl::InvalidArgumentError(
            "no filter, expected --module, --target, --task, --producer, "
            "--measured-by, --after, --before or --all");
      }
      hone::v1::InvalidateRequest request;
      *request.mutable_filter() = *filter;
      request.set_all(*all);
      HONE_ASSIGN_OR_RETURN(const hone::v1::InvalidateResponse response,
                            Client(context).Invalidate(request));
      if (context.json) {
        PrintJson({{"removed", response.removed()}});
      } else {
        std::cout << response.removed() << " records removed\n";
      }
      return kDone;
    });
  });
}

void AddStats(CLI::App& parent, Context& context) {
  CLI::App* command =
      AddCommand(parent, context, "stats", "Show the sizes of the store");
  command->callback([&context] {
    RunCommand(context, [&]() -> absl::StatusOr<int> {
      HONE_ASSIGN_OR_RETURN(const hone::v1::CacheStatsResponse stats,
                            Client(context).Stats());
      const nlohmann::ordered_json document = {
          {"records", stats.records()},
          {"tunings", stats.tunings()},
          {"trials", stats.trials()},
          {"modules", stats.modules()},
          {"bytes", stats.bytes()},
          {"wal_bytes", stats.wal_bytes()},
          {"schema_version", stats.schema_version()},
          {"hits", stats.hits()},
          {"misses", stats.misses()}};
      if (context.json) {
        PrintJson(document);
      } else {
        for (const auto& [name, value] : document.items()) {
          std::cout << absl::StrFormat("%-15s %s\n", name, value.dump());
        }
      }
      return kDone;
    });
  });
}

void AddCheck(CLI::App& parent, Context& context) {
  CLI::App* command = AddCommand(parent, context, "check",
                                 "Read everything and list what is corrupt");
  command->callback([&context] {
    RunCommand(context, [&]() -> absl::StatusOr<int> {
      Client client(context);
      hone::v1::CheckCacheRequest request;
      nlohmann::ordered_json corrupt = nlohmann::ordered_json::array();
      int64_t checked = 0;
      do {
        HONE_ASSIGN_OR_RETURN(const hone::v1::CheckCacheResponse page,
                              client.Check(request));
        for (const auto& item : page.corrupt()) {
          corrupt.push_back({{"table", item.table()},
                             {"key", item.key()},
                             {"what", item.what()}});
          if (!context.json) {
            std::cout << item.table() << " " << item.key() << ": "
                      << item.what() << "\n";
          }
        }
        checked += page.checked();
        request.set_page_token(page.next_page_token());
      } while (!request.page_token().empty());
      if (context.json) {
        PrintJson({{"checked", checked}, {"corrupt", corrupt}});
      } else {
        std::cout << checked << " rows checked, " << corrupt.size()
                  << " corrupt\n";
      }
      return corrupt.empty() ? kDone : kAnswerIsNo;
    });
  });
}

}  // namespace

void AddCacheCommand(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("cache", "Manage results, through the daemon");
  command->require_subcommand(1);
  AddList(*command, context);
  AddShow(*command, context);
  AddDelete(*command, context);
  AddInvalidate(*command, context);
  AddStats(*command, context);
  AddCheck(*command, context);
}

}  // namespace hone::cli
