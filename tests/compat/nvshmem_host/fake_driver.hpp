/// @file
/// A CUDA driver that has only a legacy default stream. Tests set the state of the stream.
#pragma once

#pragma GCC visibility push(default)
extern "C" {
void fake_driver_set_busy(bool busy);
void fake_driver_set_capturing(bool capturing);
/// Simulates the state after a kernel has used an illegal address: each query of a stream fails.
void fake_driver_set_failed(bool failed);
/// Simulates another thread that begins a capture after this thread has asked whether the stream is being captured:
/// only a query of the stream fails.
void fake_driver_set_capture_begun(bool begun);
/// The number of queries of the stream.
int fake_driver_queries();
}
#pragma GCC visibility pop
