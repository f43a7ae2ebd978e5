/* SPDX-License-Identifier: Apache-2.0 */
/* Included before every file of NVIDIA's firmware: what it uses from the kernel's headers. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define __packed __attribute__((packed))
#define __aligned(bytes) __attribute__((aligned(bytes)))
