// SPDX-License-Identifier: Apache-2.0
// SystemC's library asks every program for an sc_main; the tests have a main of their own.
extern "C" int sc_main(int /*argc*/, char* /*argv*/[]) { return 0; }
