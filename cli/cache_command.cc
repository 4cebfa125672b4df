// hone cache: manages results, through the daemon.

#include <cstdint>
#include <iostream>
#include <memory>
#include <string>

#include "absl/strings/str_format.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/record_json.h"

#include "base/status_macros.h"

namespace hone::cli {
namespace {

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
            "no filter, expected --module, --target, --task, --producer or "
            "--all");
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
