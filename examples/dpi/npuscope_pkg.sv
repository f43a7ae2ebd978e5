// SPDX-License-Identifier: Apache-2.0
// npuscope in a SystemVerilog test bench, as the reference model: libnpuscope.so through DPI-C. npuscope.h
// describes the functions; those whose names begin with npuscope_dpi are in npuscope_dpi.c, which the
// simulator compiles, because they take strings and arrays of any size.
package npuscope_pkg;
  // A preset, and changes separated by spaces, of which they have none themselves:
  // "memory=dram_200 npu.clock=800MHz". Null if refused; npuscope_error() has the reason.
  import "DPI-C" function chandle npuscope_dpi_create(input string npu, input string changes);
  import "DPI-C" function int npuscope_destroy(input chandle device);
  import "DPI-C" function int npuscope_reset(input chandle device);
  import "DPI-C" function string npuscope_error();
  import "DPI-C" function string npuscope_version();

  // 0 is success, as everywhere below.
  import "DPI-C" function int npuscope_write_register(input chandle device, input int unsigned address,
                                                      input int unsigned value);
  import "DPI-C" function int npuscope_read_register(input chandle device, input int unsigned address,
                                                     output int unsigned value);
  import "DPI-C" function int npuscope_dpi_write_memory(input chandle device, input longint unsigned address,
                                                        input byte unsigned data[]);
  import "DPI-C" function int npuscope_dpi_read_memory(input chandle device, input longint unsigned address,
                                                       output byte unsigned data[]);
  import "DPI-C" function int npuscope_fill_memory(input chandle device, input longint unsigned address,
                                                   input byte unsigned value, input longint unsigned size);

  import "DPI-C" function int npuscope_advance(input chandle device, input longint unsigned cycles);
  import "DPI-C" function int npuscope_run_until_interrupt(input chandle device, input longint unsigned most,
                                                           output longint unsigned passed);
  import "DPI-C" function int npuscope_run_until_idle(input chandle device, input longint unsigned most,
                                                      output longint unsigned passed);
  import "DPI-C" function int npuscope_interrupt(input chandle device, output int line);
  import "DPI-C" function int npuscope_cycle(input chandle device, output longint unsigned cycle);
  // Operations with cycles, traffic and findings as JSON; empty on error.
  import "DPI-C" function string npuscope_dpi_result(input chandle device);
endpackage
