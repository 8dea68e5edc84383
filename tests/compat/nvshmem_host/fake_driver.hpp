/// @file
/// A CUDA driver with only a legacy default stream, whose state tests set.
#pragma once

#pragma GCC visibility push(default)
extern "C" {
void fake_driver_set_busy(bool busy);
void fake_driver_set_capturing(bool capturing);
/// As after a kernel that has used an illegal address: each call of the context fails.
void fake_driver_set_failed(bool failed);
/// As if another thread began a capture between the two questions: only a query of the stream fails.
void fake_driver_set_capture_begun(bool begun);
/// How often the stream has been queried.
int fake_driver_queries();
}
#pragma GCC visibility pop
