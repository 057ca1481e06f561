# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
#
# What the other scripts share; to be sourced by bash. Goes to the root of the
# repository and sets
#   preset   the CMake preset for this machine: cuda or host
#   options  what to add to `cmake --preset`

cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '== %s\n' "$*"; }
fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# Installs the Debian or Ubuntu packages that are missing.
install_packages() {
    local missing=()
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null |
            grep -q 'ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    local sudo=()
    command -v apt-get >/dev/null ||
        fail "this is no Debian or Ubuntu; install yourself: ${missing[*]}"
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null ||
            fail "run as root: apt-get install ${missing[*]}"
        sudo=(sudo)
    fi
    say "installing ${missing[*]}"
    "${sudo[@]}" apt-get update -qq </dev/null
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${missing[@]}" \
        </dev/null >/dev/null || fail "could not install ${missing[*]}"
}

# Installs packages from PyPI into build/venv, and sets `python` to its Python.
install_python_packages() {
    install_packages python3-venv
    python=$PWD/build/venv/bin/python
    [ -x "$python" ] || /usr/bin/python3 -m venv build/venv
    "$python" -m pip install -q --disable-pip-version-check "$@" </dev/null
}

# Makes sure of a CMake of at least the version that CMakeLists.txt asks for.
install_cmake() {
    install_packages cmake ninja-build g++
    local needed have
    needed=$(sed -n 's/^cmake_minimum_required(VERSION \(.*\))/\1/p' CMakeLists.txt)
    have=$(cmake --version | sed -n '1s/.* //p')
    if [ "$(printf '%s\n%s\n' "$needed" "$have" | sort -V | head -n 1)" != "$needed" ]; then
        say "CMake $have is too old: installing a newer one into build/venv"
        install_python_packages "cmake>=$needed"
        PATH=$PWD/build/venv/bin:$PATH
    fi
}

# Is there an NVIDIA GPU that can be used?
has_gpu() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU'; }

# The architectures of the GPUs at hand, as CMake writes them; 90a, not 90, has all that Hopper can do.
gpu_architectures() {
    nvidia-smi --query-gpu=compute_cap --format=csv,noheader | sort -u |
        sed 's/\.//; s/^90$/90a/; s/$/-real/' | paste -sd ';'
}

preset=host
options=()
if ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then
    PATH=$PATH:/usr/local/cuda/bin
fi
if command -v nvcc >/dev/null; then
    preset=cuda
    # (One choice for all scripts, so that none compiles again what another has.)
    if has_gpu; then
        options+=("-DCMAKE_CUDA_ARCHITECTURES=$(gpu_architectures)" -DSERAC_QUICK_TESTS=OFF)
    else
        options+=(-DSERAC_QUICK_TESTS=ON)
    fi
fi
jobs=$(nproc)
