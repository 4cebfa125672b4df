/* The functions of an exported shared object besides its entry; the linker
 * gives them names after the file (export/exported_names.h). */

#include <stdio.h>

#include "backends/cpu/kernel_ffi.h"
#include "backends/cpu/kernel_runtime.h"

/* Defined by the object of the kernel (entry_emitter.h). */
extern const hone_kernel_entry hone_kernel_descriptor;

const hone_info* hone_exported_info(void);
const hone_info* hone_exported_info(void) {
  return &hone_kernel_descriptor.info;
}

hone_ffi_error* hone_exported_ffi(hone_ffi_frame* frame);
hone_ffi_error* hone_exported_ffi(hone_ffi_frame* frame) {
  return hone_kernel_ffi(&hone_kernel_descriptor, frame);
}

/* Without a code to return it prints the message. */
__attribute__((visibility("default"))) void hone_entry(
    const void* const* arguments, void* const* results);
void hone_entry(const void* const* arguments, void* const* results) {
  if (hone_kernel_call(&hone_kernel_descriptor, NULL, arguments, results) !=
      HONE_OK) {
    fprintf(stderr, "hone: %s: %s\n", hone_kernel_descriptor.info.name,
            hone_kernel_error_message());
  }
}
