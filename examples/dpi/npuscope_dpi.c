/* SPDX-License-Identifier: Apache-2.0 */
/* Converts SystemVerilog's strings and arrays for libnpuscope.so; compiled by the simulator, as C or as C++. */
#include <npuscope/npuscope.h>
#include <stdlib.h>
#include <string.h>
#include <svdpi.h>

#ifdef __cplusplus
extern "C" {
#endif

void* npuscope_dpi_create(const char* npu, const char* changes) {
    size_t count = 0;
    char* text = strdup(changes == NULL ? "" : changes);
    const char** each = (const char**)calloc(strlen(text) / 2 + 1, sizeof *each);
    for (char* one = strtok(text, " "); one != NULL; one = strtok(NULL, " ")) {
        each[count++] = one;
    }
    npuscope_device* device = NULL;
    npuscope_create(npu, each, count, NULL, &device);
    free(each);
    free(text);
    return device;
}

/* Bytes of an array that the simulator may not store contiguously. */
int npuscope_dpi_write_memory(void* device, uint64_t address, const svOpenArrayHandle data) {
    const int low = svLow(data, 1), size = svSize(data, 1);
    unsigned char* bytes = (unsigned char*)malloc((size_t)size + 1);
    for (int i = 0; i < size; ++i) {
        bytes[i] = *(const unsigned char*)svGetArrElemPtr1(data, low + i);
    }
    const int status = npuscope_write_memory((npuscope_device*)device, address, bytes, (size_t)size);
    free(bytes);
    return status;
}

int npuscope_dpi_read_memory(void* device, uint64_t address, const svOpenArrayHandle data) {
    const int low = svLow(data, 1), size = svSize(data, 1);
    unsigned char* bytes = (unsigned char*)calloc((size_t)size + 1, 1);
    const int status = npuscope_read_memory((npuscope_device*)device, address, bytes, (size_t)size);
    for (int i = 0; i < size; ++i) {
        *(unsigned char*)svGetArrElemPtr1(data, low + i) = bytes[i];
    }
    free(bytes);
    return status;
}

/* Valid until the next call. */
const char* npuscope_dpi_result(void* device) {
    static char* text = NULL;
    npuscope_free(text);
    text = NULL;
    return npuscope_result((npuscope_device*)device, &text) == NPUSCOPE_OK ? text : "";
}

#ifdef __cplusplus
}
#endif
