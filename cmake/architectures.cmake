# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause

# The architectures that every kernel must compile for (scripts/verify_sass does it); wgmma is in 90a alone.
set(SERAC_ALL_ARCHITECTURES 75-real 80-real 86-real 89-real 90-real 90a-real 100-real 120-real)

# What programs of this project are built for unless CMAKE_CUDA_ARCHITECTURES says otherwise. (`native` would mean 90
# on Hopper, which leaves wgmma out; scripts/setup.sh names 90a there.)
set(SERAC_DEFAULT_ARCHITECTURES 90a-real)
