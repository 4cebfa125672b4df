// hone admin: backups of the daemon's store, quarantined modules, and workers
// that are to leave.

#include <iostream>
#include <memory>
#include <string>

#include "cli/client.h"
#include "cli/command.h"

#include "base/status_macros.h"
#include "storage/sqlite/restore.h"

namespace hone::cli {
namespace {

void AddBackup(CLI::App& parent, Context& context) {
  auto request = std::make_shared<hone::v1::BackupRequest>();
  CLI::App* command = AddCommand(
      parent, context, "backup",
      "Copy the store, while it is in use, to backups/NAME of its folder");
  command->add_option("NAME", *request->mutable_name(),
                      "Plain file name (default: the time)");
  command->callback([request, &context] {
    RunCommand(context, [&]() -> absl::StatusOr<int> {
      HONE_ASSIGN_OR_RETURN(const hone::v1::BackupResponse made,
                            Client(context).Backup(*request));
      if (context.json) {
        PrintJson({{"name", made.name()},
                   {"path", made.path()},
                   {"records", made.records()},
                   {"bytes", made.bytes()}});
      } else {
        std::cout << made.path() << ": " << made.records() << " records, "
                  << made.bytes() << " bytes\n";
      }
      return kDone;
    });
  });
}

void AddRestore(CLI::App& parent, Context& context) {
  struct Arguments {
    std::string name;
    std::string state;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      AddCommand(parent, context, "restore",
                 "Replace the store of a stopped daemon by a backup");
  command->add_option("NAME", arguments->name, "The backup")->required();
  command->add_option("--state", arguments->state, "Folder of the store")
      ->type_name("DIR")
      ->required();
  command->callback([arguments, &context] {
    RunCommand(context, [&]() -> absl::StatusOr<int> {
      HONE_ASSIGN_OR_RETURN(
          const storage::RestoreInfo info,
          storage::RestoreBackup(arguments->state, arguments->name));
      if (context.json) {
        PrintJson({{"records", info.records}, {"replaced", info.replaced}});
      } else {
        std::cout << info.records << " records restored; what was there is in "
                  << info.replaced << "\n";
      }
      return kDone;
    });
  });
}

void AddQuarantine(CLI::App& parent, Context& context) {
  CLI::App* command = AddCommand(
      parent, context, "quarantine",
      "List the modules that are set aside because they ended processes");
  command->callback([&context] {
    RunCommand(context, [&]() -> absl::StatusOr<int> {
      HONE_ASSIGN_OR_RETURN(const hone::v1::ListQuarantinedModulesResponse list,
                            Client(context).ListQuarantinedModules());
      nlohmann::ordered_json modules = nlohmann::ordered_json::array();
      for (const hone::v1::QuarantinedModule& module : list.modules()) {
        modules.push_back(
            {{"digest", module.digest()}, {"reason", module.reason()}});
        if (!context.json) {
          std::cout << module.digest() << " " << module.reason() << "\n";
        }
      }
      if (context.json) PrintJson({{"modules", modules}});
      return kDone;
    });
  });
}

void AddRelease(CLI::App& parent, Context& context) {
  auto digest = std::make_shared<std::string>();
  CLI::App* command = AddCommand(parent, context, "release",
                                 "Work on a module that was set aside again");
  command->add_option("DIGEST", *digest, "As `hone admin quarantine` lists it")
      ->required();
  command->callback([digest, &context] {
    RunCommand(context, [&]() -> absl::StatusOr<int> {
      HONE_RETURN_IF_ERROR(Client(context).ReleaseModule(*digest));
      if (context.json) PrintJson({{"released", *digest}});
      return kDone;
    });
  });
}

void AddDrain(CLI::App& parent, Context& context) {
  auto id = std::make_shared<std::string>();
  CLI::App* command =
      AddCommand(parent, context, "drain",
                 "Let a worker finish what it has, and then leave");
  command->add_option("WORKER", *id, "Id, as `hone list workers` lists it")
      ->required();
  command->callback([id, &context] {
    RunCommand(context, [&]() -> absl::StatusOr<int> {
      HONE_ASSIGN_OR_RETURN(const hone::v1::Worker worker,
                            Client(context).DrainWorker(*id));
      if (context.json) {
        PrintJson({{"id", worker.id()},
                   {"busy_devices", worker.busy_devices_size()}});
      }
      return kDone;
    });
  });
}

}  // namespace

void AddAdminCommand(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "admin", "Backups, modules that are set aside, workers");
  command->require_subcommand(1);
  AddBackup(*command, context);
  AddRestore(*command, context);
  AddQuarantine(*command, context);
  AddRelease(*command, context);
  AddDrain(*command, context);
}

}  // namespace hone::cli
