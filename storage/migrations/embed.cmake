# cmake -D OUTPUT=x.cc -D FILES="a.sql;b.sql" -P embed.cmake
#
# Writes the migrations, in the order given, as the array that
# storage/sqlite/migrations.h declares. File names begin with the version that
# they lead to.
set(entries "")
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME_WE)
  string(REGEX REPLACE "^0*([0-9]+)_.*" "\\1" version "${name}")
  file(READ "${file}" sql)
  string(APPEND entries "    {${version}, R\"sql(${sql})sql\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Generated from storage/migrations/*.sql.
#include \"storage/sqlite/migrations.h\"

namespace hone::storage::sqlite {
namespace {

constexpr Migration kMigrations[] = {
${entries}};

}  // namespace

absl::Span<const Migration> Migrations() { return kMigrations; }

}  // namespace hone::storage::sqlite
")
