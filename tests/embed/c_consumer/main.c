/* SPDX-License-Identifier: Apache-2.0 */
/* A C program that links the library alone. */
#include <npuscope/npuscope.h>
#include <stdio.h>

int main(void) {
    npuscope_device* npu = NULL;
    if (npuscope_create("nv_small", NULL, 0, NULL, &npu) != NPUSCOPE_OK) {
        fputs(npuscope_error(), stderr);
        return 1;
    }
    return npuscope_destroy(npu) == NPUSCOPE_OK ? 0 : 1;
}
