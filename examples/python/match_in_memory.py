#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""Matching between pycolmap's steps: features from pycolmap, matches by serac
in memory, verification and mapping by pycolmap.

    match_in_memory.py --database_path database.db --output_path sparse
    match_in_memory.py --database_path new.db --image_path images --output_path sparse

The database holds features, or gets them from the images. Its matches are
written anew. Needs: pip install serac pycolmap
"""
import argparse
import itertools
from pathlib import Path

import pycolmap
import serac

MIN_NUM_INLIERS = pycolmap.TwoViewGeometryOptions().min_num_inliers


def match(database, device):
    """Matches all pairs of images, verifies them, and stores both."""
    images = database.read_all_images()
    cameras = {camera.camera_id: camera for camera in database.read_all_cameras()}
    descriptors = [database.read_descriptors(image.image_id).data for image in images]
    points = [database.read_keypoints(image.image_id)[:, :2] for image in images]
    pairs = list(itertools.combinations(range(len(images)), 2))

    lists = serac.match_batch(descriptors, pairs, device=device)

    options = pycolmap.TwoViewGeometryOptions()
    options.ransac.random_seed = 0
    verified = 0
    for (i, j), matches in zip(pairs, lists):
        if len(matches) < MIN_NUM_INLIERS:
            continue
        geometry = pycolmap.estimate_two_view_geometry(cameras[images[i].camera_id], points[i],
                                                       cameras[images[j].camera_id], points[j], matches, options)
        database.write_matches(images[i].image_id, images[j].image_id, matches)
        database.write_two_view_geometry(images[i].image_id, images[j].image_id, geometry)
        verified += len(geometry.inlier_matches) >= MIN_NUM_INLIERS
    print(f"{len(pairs)} pairs: {sum(map(len, lists))} matches; {verified} pairs verified")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database_path", type=Path, required=True)
    parser.add_argument("--image_path", type=Path, help="a folder of images, to extract features from")
    parser.add_argument("--output_path", type=Path, required=True, help="a folder for the reconstruction")
    parser.add_argument("--device", help="cpu, cuda, cuda:1; without it a GPU if there is one")
    given = parser.parse_args()

    if given.image_path:
        pycolmap.extract_features(given.database_path, given.image_path)
    with pycolmap.Database.open(given.database_path) as database:
        database.clear_matches()
        database.clear_two_view_geometries()
        match(database, given.device)

    options = pycolmap.IncrementalPipelineOptions()
    options.extract_colors = given.image_path is not None
    given.output_path.mkdir(parents=True, exist_ok=True)
    models = pycolmap.incremental_mapping(given.database_path, given.image_path or given.output_path,
                                           given.output_path, options)
    for number, model in models.items():
        print(f"model {number}: {model.num_reg_images()} images, {model.num_points3D()} points, "
              f"{model.compute_mean_reprojection_error():.3f} pixels")


if __name__ == "__main__":
    main()
