/// @file
/// The version of these headers. This file is the only place that states the version: CMake and the Python package read
/// it here, and `packaging/release.py` changes it. docs/stability.md explains what a version promises.
#pragma once

#include "pgas/detail/names_begin.inc"

/// The version as a number, for the preprocessor: 10000 * major + 100 * minor + patch.
#define PGAS_VERSION 100
/// The version as text.
#define PGAS_VERSION_TEXT "0.1.0"

#include "pgas/detail/names_end.inc"
