#include "backends/cpu/kernel_ffi.h"

#include <stdio.h>

#include "backends/cpu/kernel_call.h"

/* Arrays of a call without other memory than the stack's. */
enum { kFew = 64, kMessageBytes = 256 };

static hone_ffi_error* Error(const hone_ffi_frame* frame, int32_t code,
                             const char* message) {
  hone_ffi_new_error arguments = {
      .struct_size = offsetof(hone_ffi_new_error, code) + sizeof(int32_t),
      .message = message,
      .code = code,
  };
  return frame->api->create_error(&arguments);
}

static int32_t StatusOf(int32_t error) {
  switch (error) {
    case HONE_ERROR_PROCESSOR:
      return HONE_FFI_FAILED_PRECONDITION;
    case HONE_ERROR_OUT_OF_MEMORY:
      return HONE_FFI_RESOURCE_EXHAUSTED;
    case HONE_ERROR_LIBRARY:
      return HONE_FFI_INTERNAL;
    default:
      return HONE_FFI_INVALID_ARGUMENT;
  }
}

/* What we use of a call is the same in all versions of the interface with this
 * major number, so that an older XLA gets the minor number that it has. */
static hone_ffi_error* DescribeHandler(const hone_ffi_frame* frame) {
  hone_ffi_metadata* const metadata =
      ((hone_ffi_metadata_extension*)frame->extensions)->metadata;
  metadata->version.major = HONE_FFI_MAJOR;
  metadata->version.minor = HONE_FFI_MINOR;
  if (frame->api != NULL && frame->api->version.minor < HONE_FFI_MINOR) {
    metadata->version.minor = frame->api->version.minor;
  }
  metadata->traits = 0;
  return NULL;
}

/* Writes a shape as "f32[5,37]". */
static void PrintShape(const hone_array* array, char* text, size_t size) {
  int length = snprintf(text, size, "%s[", array->type_name);
  for (int32_t i = 0; i < array->rank && (size_t)length < size; ++i) {
    length += snprintf(text + length, size - (size_t)length, "%s%lld",
                       i == 0 ? "" : ",", (long long)array->dimensions[i]);
  }
  if ((size_t)length < size) {
    snprintf(text + length, size - (size_t)length, "]");
  }
}

static int IsOfShape(const hone_ffi_buffer* buffer, const hone_array* array) {
  if (buffer->type != array->type || buffer->rank != array->rank) return 0;
  for (int32_t i = 0; i < array->rank; ++i) {
    if (buffer->dimensions[i] != array->dimensions[i]) return 0;
  }
  return 1;
}

/* Stores the addresses of the buffers of a call; writes a message and returns
 * 0 if they have other shapes than `expected`. */
static int Addresses(const char* kind, const hone_ffi_arrays* given,
                     const hone_array* expected, int32_t count,
                     void** addresses, char* message) {
  if (given->size != count) {
    snprintf(message, kMessageBytes, "%lld %ss, expected %d",
             (long long)given->size, kind, count);
    return 0;
  }
  for (int32_t i = 0; i < count; ++i) {
    if (given->types[i] != HONE_FFI_BUFFER ||
        !IsOfShape(given->buffers[i], &expected[i])) {
      char shape[kMessageBytes / 2];
      PrintShape(&expected[i], shape, sizeof(shape));
      snprintf(message, kMessageBytes,
               "%s %d has another type or shape than %s", kind, i, shape);
      return 0;
    }
    addresses[i] = given->buffers[i]->data;
  }
  return 1;
}

static hone_ffi_error* Call(const hone_kernel_entry* entry,
                            const hone_ffi_frame* frame, void** addresses) {
  const hone_info* const info = &entry->info;
  void** const results = addresses + info->num_arguments;
  char message[kMessageBytes];
  if (!Addresses("argument", &frame->arguments, info->arguments,
                 info->num_arguments, addresses, message) ||
      !Addresses("result", &frame->results, info->results, info->num_results,
                 results, message)) {
    return Error(frame, HONE_FFI_INVALID_ARGUMENT, message);
  }
  const int32_t error =
      hone_kernel_call(entry, NULL, (const void* const*)addresses, results);
  if (error == HONE_OK) return NULL;
  return Error(frame, StatusOf(error), hone_kernel_error_message());
}

hone_ffi_error* hone_kernel_ffi(const hone_kernel_entry* entry,
                                hone_ffi_frame* frame) {
  if (frame->extensions != NULL &&
      frame->extensions->type == HONE_FFI_METADATA) {
    return DescribeHandler(frame);
  }
  if (frame->stage != HONE_FFI_EXECUTE) {
    return Error(frame, HONE_FFI_INVALID_ARGUMENT,
                 "called in another stage than that of execution");
  }
  const int64_t count =
      (int64_t)entry->info.num_arguments + entry->info.num_results;
  void* few[kFew];
  if (count <= kFew) return Call(entry, frame, few);
  void** const addresses =
      hone_kernel_allocate_block(count * (int64_t)sizeof(void*));
  if (addresses == NULL) {
    return Error(frame, HONE_FFI_RESOURCE_EXHAUSTED,
                 "no memory for the addresses of the arrays");
  }
  hone_ffi_error* const error = Call(entry, frame, addresses);
  hone_kernel_free_block(addresses);
  return error;
}
