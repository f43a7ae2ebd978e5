// SPDX-License-Identifier: Apache-2.0
// The SystemC library requires an sc_main in every program; the tests have their own main.
extern "C" int sc_main(int /*argc*/, char* /*argv*/[]) { return 0; }
