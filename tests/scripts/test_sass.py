# SPDX-FileCopyrightText: 2026 The SERAC authors
# SPDX-License-Identifier: BSD-3-Clause
"""scripts/verify_sass: what is wrong with machine code, or differs from the
record, is found; and the record has every kernel on every architecture."""
import contextlib
import io

from script_test import ScriptTest

WGMMA = "chunk_maxima_wgmma<wgmma, false, nothing_behind>"
MMA = "chunk_maxima_mma<mma>"
BITS = "chunk_maxima_mma<mma_bits>"
DP4A = "fused_top2<dp4a, true>"
SCALAR = "fused_top2<scalar, true>"


class VerifySass(ScriptTest):
    script = "verify_sass"

    def setUp(self):
        super().setUp()
        record = self.module.RECORD
        self.addCleanup(setattr, self.module, "RECORD", record)

    def code(self, kernel, code, arch="90a", spilled=0):
        """As Tools.kernels has it."""
        plain = [name.split(".")[0] for name in code]
        return {kernel: ({
            "architecture": arch, "kernel": kernel, "registers": 96, "stack": 8,
            "spilled": spilled,
            **{p: plain.count(p) for p in self.module.PRODUCTS}}, code)}

    def predicted(self, kernel, code, each, least, most, arch="90a"):
        return self.module.check_predictions(
            arch, self.code(kernel, code, arch), {kernel: (each, least, most)})

    def test_names_of_kernels(self):
        for demangled, name in {
                "void serac::kernel::path_marker<4096>(int*)":
                    "path_marker<4096>",
                "void serac::kernel::rescore_rows<serac::mma_traits<mma>, "
                "serac::kernel::keep_accepted<serac::angular_acceptance> >"
                "(serac::chunk_pair const*, serac::row_verdicts)":
                    "rescore_rows<mma_traits<mma>, "
                    "keep_accepted<angular_acceptance>>",
                "void serac::kernel::publish_pairs<serac::device::detail::"
                "published<1>, serac::kernel::no_maps>(int)":
                    "publish_pairs<published<1>, no_maps>"}.items():
            self.assertEqual(self.module.short_name(demangled), name)

    def test_every_kernel_of_the_headers_is_compiled(self):
        names = self.module.declared()
        self.assertEqual(names, {k.split("<")[0] for k in self.module.KERNELS})
        self.assertGreater(len(names), 15)

    def test_whole_copies_of_a_scoring_loop(self):
        idp = ["IDP.4A.U8.U8"] * 4
        self.assertEqual(self.predicted(DP4A, idp, 4, 1, 4), [])
        self.assertEqual(self.predicted(DP4A, 4 * idp, 4, 1, 4), [])
        for wrong in (idp[1:], [], 5 * idp, ["IMAD"] * 4):
            self.assertEqual(len(self.predicted(DP4A, wrong, 4, 1, 4)), 1)
        self.assertEqual(self.predicted(SCALAR, ["IMAD"], 1, 0, 0), [])
        self.assertEqual(len(self.predicted(SCALAR, idp, 1, 0, 0)), 1)

    def test_products_that_an_architecture_lacks(self):
        imma, bmma = ["IMMA.16832.U8.U8"], ["BMMA.168256.AND.POPC"]
        for kernel, code, arch, faults in (
                (MMA, imma, "80", 0), (MMA, [], "80", 1),
                (MMA, [], "75", 0), (MMA, imma, "75", 1),
                (BITS, bmma, "86", 0), (BITS, 2 * bmma, "86", 1),
                (BITS, 2 * bmma, "90a", 0), (BITS, bmma, "90a", 1),
                (BITS, [], "100", 0), (BITS, bmma, "120", 1),
                (WGMMA, [], "90", 0), (WGMMA, ["IGMMA"], "100", 1)):
            found = self.predicted(kernel, code, 1, 1, 1, arch)
            self.assertEqual(len(found), faults, (kernel, arch, found))

    def test_what_stands_among_igmma(self):
        igmma = "IGMMA.64x176x32.U8.U8"
        tile = [igmma, "UIADD3", "IMAD.U32", igmma]
        between = ["SHFL.BFLY", "BRA"]  # tiles may wait for each other
        check = self.module.check_igmma
        self.assertEqual(check(["LDL", *tile, *between, *tile, "STL"], 2), [])
        for name in ("R2UR", "IMAD.MOV.U32", "WARPGROUP.DEPBAR.LE"):
            faults = check([*tile, *between, igmma, name, igmma], 2)
            self.assertEqual(len(faults), 1)
            self.assertIn(f"1 {name}", faults[0])
        self.assertEqual(len(check([*tile, "LDL.64", *tile], 2)), 1)

    def test_differences_from_the_record(self):
        found = self.code(DP4A, ["IDP.4A"])
        recorded = {DP4A: {k: str(v) for k, v in found[DP4A][0].items()}}
        check = self.module.check_record
        self.assertEqual(check(found, recorded, True), [])
        self.assertEqual(len(check(found, {}, True)), 1)
        self.assertEqual(
            check({}, recorded, True), [f"{DP4A} is not in the code"])
        for column in self.module.COLUMNS[2:]:
            other = {DP4A: {**recorded[DP4A], column: "77"}}
            self.assertIn(f"{column}, recorded are 77",
                          check(found, other, True)[0])
            self.assertEqual(check(found, other, False), [])
        spilling = self.code(DP4A, ["IDP.4A"], spilled=4)
        self.assertEqual(check(spilling, recorded, False),
                         [f"{DP4A} spills 4 bytes"])

    def test_kernels_of_tensor_core_products_may_not_spill(self):
        check = self.module.check_spills
        for kernel, faults in ((DP4A, 0), (MMA, 1), (BITS, 1), (WGMMA, 1)):
            self.assertEqual(check(self.code(kernel, [])), [])
            self.assertEqual(len(check(self.code(kernel, [], spilled=4))),
                             faults, kernel)

    def test_a_record_is_read_as_it_was_written(self):
        self.module.RECORD = self.folder / "sass.csv"
        self.assertEqual(self.module.read_record(), (None, {}))
        of_all = {arch: dict.fromkeys(
            self.module.KERNELS, self.code(DP4A, ["IDP.4A"], arch)[DP4A])
            for arch in ("75", "80")}
        with contextlib.redirect_stdout(io.StringIO()):
            self.module.write_record("13.0.88", {"80": of_all["80"]}, {})
            version, first = self.module.read_record()
            self.module.write_record("13.0.88", {"75": of_all["75"]}, first)
        self.assertEqual(version, "13.0.88")
        self.assertEqual(first["80"][DP4A]["IDP"], "1")
        self.assertEqual(list(self.module.read_record()[1]), ["75", "80"])

    def test_the_record_is_complete(self):
        _, rows = self.module.read_record()
        self.assertEqual(list(rows), self.module.all_architectures())
        for of_arch in rows.values():
            self.assertEqual(list(of_arch), list(self.module.KERNELS))

    def test_arguments(self):
        for wrong in ("sm_90a", "90b", "--all"):
            end, _ = self.run_script(wrong, code=self.module.__doc__)
            self.assertEqual(end, "")
