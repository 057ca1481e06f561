#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Renders a small synthetic UAV survey: 12 frames over a procedural terrain.

Usage: render.py IMAGE_DIR POSES.txt

The terrain is a height field over a square that repeats in both directions.
Each pixel's rays are intersected with it and look up a texture map, so that
every frame sees exactly the same surface.  All lengths are in metres; the
world's axes are east, north and up.
"""
import struct
import sys
import zlib
from pathlib import Path

import numpy as np

SEED = 2026
SIDE = 256.0                # side of the terrain
HEIGHT_CELLS = 1024         # height field: 0.25 m per cell
TEXTURE_CELLS = 4096        # texture map: 0.0625 m per cell

WIDTH, HEIGHT, FOCAL = 1000, 750, 900.0     # SIMPLE_PINHOLE, centred
ALTITUDE = 100.0                            # about 0.11 m per pixel
STRIPS, FRAMES = 3, 4
FORWARD_OVERLAP, SIDE_OVERLAP = 0.75, 0.60
SUPERSAMPLES = 2                            # per pixel and direction


# ---- terrain ---------------------------------------------------------------

def fractal(rng, cells, exponent, longest):
    """Periodic noise, zero mean and unit variance, its amplitude falling as
    frequency^-exponent; no wavelength is longer than `longest` metres."""
    fx = np.fft.rfftfreq(cells, SIDE / cells)
    fy = np.fft.fftfreq(cells, SIDE / cells)[:, None]
    frequency = np.hypot(fx, fy)
    gain = np.where(frequency * longest < 1, 0,
                    np.maximum(frequency, 1 / SIDE) ** -exponent)
    spectrum = np.fft.rfft2(rng.standard_normal((cells, cells)))
    noise = np.fft.irfft2(spectrum * gain, s=(cells, cells))
    return (noise / noise.std()).astype(np.float32)


def sample(grid, x, y):
    """Bilinear, periodic look-up of a grid (rows along y) at metres x, y."""
    cells = len(grid)
    u, v = x * (cells / SIDE), y * (cells / SIDE)
    i, j = np.floor(v).astype(np.int32), np.floor(u).astype(np.int32)
    a, b = v - i, u - j
    if grid.ndim == 3:
        a, b = a[..., None], b[..., None]
    i0, i1, j0, j1 = i % cells, (i + 1) % cells, j % cells, (j + 1) % cells
    return ((1 - a) * ((1 - b) * grid[i0, j0] + b * grid[i0, j1])
            + a * ((1 - b) * grid[i1, j0] + b * grid[i1, j1]))


def smoothstep(low, high, x):
    t = np.clip((x - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


def parcels(rng, count, cells):
    """Voronoi parcels with wavy borders: each cell's parcel number, and its
    distance in metres from the nearest border (approximately)."""
    axis = (np.arange(cells) * (SIDE / cells)).astype(np.float32)
    x = axis + 3 * fractal(rng, cells, 1.8, 60)
    y = axis[:, None] + 3 * fractal(rng, cells, 1.8, 60)
    first = np.full((cells, cells), np.inf, np.float32)
    second, owner = first.copy(), np.zeros((cells, cells), np.int32)
    for k, (px, py) in enumerate(rng.uniform(0, SIDE, (count, 2))):
        dx = np.abs((x - px + SIDE / 2) % SIDE - SIDE / 2)
        dy = np.abs((y - py + SIDE / 2) % SIDE - SIDE / 2)
        distance = np.hypot(dx, dy)
        second = np.minimum(second, np.maximum(first, distance))
        owner[distance < first] = k
        first = np.minimum(first, distance)
    return owner, (second - first) / 2


def scatter(rng, albedo, count, radii, colour, spread):
    """Paints `count` round, ragged objects (bushes, stones), each lit from
    the west and with a shadow to its east."""
    cells = len(albedo)
    scale = cells / SIDE
    for _ in range(count):
        radius = radii[0] * (radii[1] / radii[0]) ** rng.random()
        reach = int(np.ceil(2.5 * radius * scale))
        grid = np.arange(-reach, reach + 1) / (radius * scale)
        gx, gy = grid[None, :], grid[:, None]
        row, column = rng.integers(0, cells, 2)
        window = np.ix_((row + np.arange(-reach, reach + 1)) % cells,
                        (column + np.arange(-reach, reach + 1)) % cells)
        turn = np.arctan2(gy, gx)
        waves = np.arange(2, 9)[:, None, None]
        phase = rng.uniform(0, 2 * np.pi, waves.shape)
        edge = 1 + (0.2 / waves * np.cos(waves * turn + phase)).sum(0)
        body = smoothstep(1.1, 0.9, np.hypot(gx, gy) / edge)[..., None]
        shade = smoothstep(1.2, 0.7, np.hypot(gx - 0.8, gy + 0.3))[..., None]
        light = (1 - 0.45 * gx + 0.15 * gy)[..., None]
        tint = np.array(colour) * (1 + spread * rng.uniform(-1, 1)
                                   + 0.1 * rng.uniform(-1, 1, 3))
        patch = albedo[window] * (1 - 0.55 * shade)
        albedo[window] = patch * (1 - body) + tint * np.clip(light, 0.3, 1.7) * body


def make_terrain():
    """The height field and the texture map (linear RGB, sunlight included)."""
    rng = np.random.default_rng(SEED)
    height = 5.0 * fractal(rng, HEIGHT_CELLS, 2.6, 120)

    axis = np.arange(TEXTURE_CELLS) * (SIDE / TEXTURE_CELLS)
    x, y = np.meshgrid(axis, axis)

    # Ground cover: one colour a parcel, varied at every scale.
    owner, border = parcels(rng, 60, HEIGHT_CELLS)
    palette = np.array([(0.20, 0.27, 0.10), (0.30, 0.31, 0.14),
                        (0.36, 0.28, 0.17), (0.15, 0.21, 0.09),
                        (0.42, 0.36, 0.22)])
    colours = palette[rng.integers(0, len(palette), 60)]
    colours = colours * rng.uniform(0.85, 1.15, (60, 3))
    albedo = sample(colours[owner].astype(np.float32), x, y)

    soil = smoothstep(0.2, 1.2, fractal(rng, TEXTURE_CELLS, 1.5, 40))[..., None]
    albedo += 0.7 * soil * (np.array((0.40, 0.31, 0.20)) - albedo)

    # Tracks along the parcels' borders.
    track = smoothstep(1.1, 0.8, sample(border, x, y))[..., None]
    albedo += 0.8 * track * (np.array((0.50, 0.46, 0.38)) - albedo)

    scatter(rng, albedo, 9000, (0.15, 0.8), (0.45, 0.43, 0.40), 0.35)  # stones
    scatter(rng, albedo, 3500, (0.4, 2.2), (0.10, 0.16, 0.06), 0.40)   # bushes

    # Grain on everything.
    albedo *= np.exp(0.20 * fractal(rng, TEXTURE_CELLS, 1.3, 12)
                     + 0.14 * fractal(rng, TEXTURE_CELLS, 0.8, 1.5))[..., None]

    # Sunlight by Lambert's law on the height field.
    step = 2 * SIDE / HEIGHT_CELLS
    slope_x = (np.roll(height, -1, 1) - np.roll(height, 1, 1)) / step
    slope_y = (np.roll(height, -1, 0) - np.roll(height, 1, 0)) / step
    sun = np.array((-0.55, 0.35, 0.76))
    light = (sun[2] - sun[0] * slope_x - sun[1] * slope_y) / np.sqrt(
        1 + slope_x ** 2 + slope_y ** 2)
    albedo *= (0.25 + np.maximum(sample(light, x, y), 0))[..., None]
    return height, albedo.astype(np.float32)


# ---- cameras ---------------------------------------------------------------

def rotation(axis, angle):
    """The matrix that turns by `angle` about the coordinate axis `axis`."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(3)
    matrix[i, i] = matrix[j, j] = c
    matrix[i, j], matrix[j, i] = -s, s
    return matrix


def quaternion(matrix):
    """A rotation matrix as (w, x, y, z), w >= 0: the eigenvector of the
    largest eigenvalue of Bar-Itzhack's symmetric matrix."""
    (a, b, c), (d, e, f), (g, h, i) = matrix
    k = np.array(((a + e + i, h - f, c - g, d - b),
                  (h - f, a - e - i, b + d, c + g),
                  (c - g, b + d, e - a - i, f + h),
                  (d - b, c + g, f + h, i - a - e)))
    q = np.linalg.eigh(k)[1][:, -1]
    return -q if q[0] < 0 else q


def survey():
    """Name, world-to-camera rotation and centre of every frame.  Strips run
    north and south in turn; the images' shorter side lies along the strip."""
    rng = np.random.default_rng(SEED + 1)
    forward = (1 - FORWARD_OVERLAP) * HEIGHT * ALTITUDE / FOCAL
    across = (1 - SIDE_OVERLAP) * WIDTH * ALTITUDE / FOCAL
    for strip in range(STRIPS):
        for frame in range(FRAMES):
            heading = -1 if strip % 2 else 1
            centre = np.array((across * (strip - (STRIPS - 1) / 2),
                               heading * forward * (frame - (FRAMES - 1) / 2),
                               ALTITUDE)) + rng.normal(0, 1.0, 3)
            yaw = np.radians(rng.normal(180 if heading < 0 else 0, 4))
            tilt_x, tilt_y = np.radians(rng.normal(0, 2, 2))
            down = np.diag((1.0, -1.0, -1.0))   # image x east, y south
            turn = (rotation(0, tilt_x) @ rotation(1, tilt_y) @ down
                    @ rotation(2, -yaw))
            yield f"strip{strip + 1}_frame{frame + 1}.png", turn, centre


# ---- images ----------------------------------------------------------------

def intersect(height, centre, rays):
    """Where rays (x, y per metre of descent) from `centre` meet the height
    field.  The iteration converges as slope times obliquity is below one."""
    z = np.zeros(rays.shape[:-1])
    for _ in range(60):
        drop = centre[2] - z
        x, y = centre[0] + drop * rays[..., 0], centre[1] + drop * rays[..., 1]
        change = sample(height, x, y) - z
        z += change
        if np.abs(change).max() < 1e-4:
            return x, y
    raise ArithmeticError("a ray did not converge: the terrain is too steep")


def render(height, texture, turn, centre, rng):
    """One frame, 8-bit RGB.  The upper-left pixel's centre is (0.5, 0.5)."""
    image = np.zeros((HEIGHT, WIDTH, 3))
    for k in np.ndindex(SUPERSAMPLES, SUPERSAMPLES):
        v, u = [np.arange(n) + (s + 0.5) / SUPERSAMPLES
                for n, s in zip((HEIGHT, WIDTH), k)]
        u, v = np.meshgrid((u - WIDTH / 2) / FOCAL, (v - HEIGHT / 2) / FOCAL)
        rays = np.stack((u, v, np.ones_like(u)), -1) @ turn
        x, y = intersect(height, centre, rays[..., :2] / -rays[..., 2:])
        image += sample(texture, x, y)
    image *= 1.0 / SUPERSAMPLES ** 2                            # exposure
    image = 255 * np.clip(image, 0, 1) ** (1 / 2.2)
    image += rng.normal(0, 1.5, image.shape)                    # sensor noise
    return np.clip(np.rint(image), 0, 255).astype(np.uint8)


def write_png(path, image):
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data
                + struct.pack(">I", zlib.crc32(kind + data)))
    rows, columns, _ = image.shape
    lines = np.hstack((np.zeros((rows, 1), np.uint8), image.reshape(rows, -1)))
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(lines.tobytes(), 6))
        + chunk(b"IEND", b""))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, poses = Path(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    height, texture = make_terrain()
    lines = ["# Known poses of the sample survey, as a COLMAP images.txt"
             " without points:",
             "# IMAGE_ID QW QX QY QZ TX TY TZ CAMERA_ID NAME, then an empty line",
             "# x_camera = R(q) x_world + t; world: east, north, up in metres",
             "# CAMERA_ID MODEL WIDTH HEIGHT F CX CY:",
             f"# 1 SIMPLE_PINHOLE {WIDTH} {HEIGHT} {FOCAL:g} {WIDTH / 2:g}"
             f" {HEIGHT / 2:g}"]
    for k, (name, turn, centre) in enumerate(survey(), 1):
        rng = np.random.default_rng((SEED, k))
        write_png(folder / name, render(height, texture, turn, centre, rng))
        numbers = (*quaternion(turn), *(-turn @ centre))
        lines += [" ".join((str(k), *(f"{n:.9f}" for n in numbers), "1", name)),
                  ""]
        print(f"rendered {name}", flush=True)
    poses.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
