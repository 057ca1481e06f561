// SPDX-FileCopyrightText: 2026 The SERAC authors
// SPDX-License-Identifier: BSD-3-Clause
/// @file
/// What every report has: its style, and the script that draws the matrix.
#pragma once

namespace serac_colmap {

inline constexpr char report_style[] = R"css(
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 1100px; margin: 2em auto;
       padding: 0 1em; }
h1 { font-size: 1.6em; margin-bottom: 0.2em; }
h2 { font-size: 1.2em; margin-top: 2em; border-bottom: 1px solid #ddd; }
h1, h3, td, figcaption, output { overflow-wrap: anywhere; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: 0.15em 1.5em 0.15em 0; vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.note { color: #666; }
.problem { color: #a01010; }
canvas { image-rendering: pixelated; border: 1px solid #ccc; display: block; max-width: 100%; cursor: crosshair; }
output { display: block; min-height: 3em; }
.legend span { margin-right: 1.5em; white-space: nowrap; }
.legend i { display: inline-block; width: 1em; height: 1em; margin-right: 0.4em; vertical-align: -0.15em;
            border: 1px solid #999; }
.legend i.scale { width: 8em; }
figure { margin: 1em 0 2em; }
figure svg, .histogram { width: 100%; height: auto; }
figure svg g { stroke-width: 1.5; stroke-opacity: 0.7; fill: none; }
figure svg g:hover { stroke-width: 4; stroke-opacity: 1; }
svg text { font: 13px system-ui, sans-serif; fill: #222; }
svg rect.bar { fill: #3b6fb6; }
svg rect.frame { fill: #eee; stroke: #999; }
)css";

/// Reads the element `data`: {names: [...], rows: [[j, count, j, count, ...], ...]}, the pairs (i, j) of row i with
/// i < j by places in `names`; a count of -1 says that the list cannot be read.
inline constexpr char report_script[] = R"js(
'use strict';
(() => {
  const canvas = document.getElementById('matrix');
  if (!canvas) return;
  const data = JSON.parse(document.getElementById('data').textContent);
  const images = data.names.length;
  const counts = data.rows.map(row => {
    const of = new Map();
    for (let k = 0; k < row.length; k += 2) of.set(row[k], row[k + 1]);
    return of;
  });
  const count = (i, j) => counts[Math.min(i, j)].get(Math.max(i, j));
  let most = 1;
  for (const row of data.rows) for (let k = 1; k < row.length; k += 2) most = Math.max(most, row[k]);

  const stops = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
  const scale = t => {
    const place = Math.min(Math.max(t, 0), 1) * (stops.length - 1), k = Math.min(Math.floor(place), stops.length - 2);
    return stops[k].map((from, c) => Math.round(from + (place - k) * (stops[k + 1][c] - from)));
  };
  const colour = n => n === -1 ? [224, 32, 32] : n === 0 ? [214, 214, 214] : scale(Math.log(n) / Math.log(most + 1));

  // A pixel an image; of more images than pixels each has the most of its pairs.
  const side = Math.min(images, 2000);
  const pixel = i => Math.floor(i * side / images);
  const shown = new Map();
  data.rows.forEach((row, i) => {
    for (let k = 0; k < row.length; k += 2) {
      const key = pixel(i) * side + pixel(row[k]), before = shown.get(key);
      if (before === undefined || (before !== -1 && (row[k + 1] === -1 || row[k + 1] > before))) {
        shown.set(key, row[k + 1]);
      }
    }
  });
  canvas.width = canvas.height = side;
  canvas.style.width = side * Math.max(1, Math.floor(720 / side)) + 'px';
  const context = canvas.getContext('2d');
  const picture = context.createImageData(side, side);
  picture.data.fill(255);
  for (let i = 0; i < side; ++i) picture.data.set([190, 190, 190], 4 * (i * side + i));
  shown.forEach((n, key) => {
    const y = Math.floor(key / side), x = key % side;
    picture.data.set(colour(n), 4 * (y * side + x));
    picture.data.set(colour(n), 4 * (x * side + y));
  });
  context.putImageData(picture, 0, 0);

  const css = rgb => `rgb(${rgb.join(' ')})`;
  document.querySelector('.scale').style.background =
    `linear-gradient(to right, ${[0, 0.25, 0.5, 0.75, 1].map(t => css(scale(t))).join(', ')})`;
  document.getElementById('most').textContent = most.toLocaleString('en');

  const place = event => {
    const box = canvas.getBoundingClientRect();
    const at = (offset, size) => Math.min(images - 1, Math.max(0, Math.floor(offset / size * images)));
    return [at(event.clientY - box.top - 1, box.height - 2), at(event.clientX - box.left - 1, box.width - 2)];
  };
  canvas.addEventListener('mousemove', event => {
    const [i, j] = place(event), n = count(i, j);
    const what = i === j ? '' : n === undefined ? ': not matched' : n === -1 ? ': its list cannot be read'
      : `: ${n.toLocaleString('en')} ${n === 1 ? 'match' : 'matches'}`;
    document.getElementById('cell').textContent =
      data.names[i] + (i === j ? '' : ' \u2013 ' + data.names[j]) + what;
  });
})();
)js";

}  // namespace serac_colmap
