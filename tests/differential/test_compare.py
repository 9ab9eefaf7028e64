"""Tests that the comparison can also fail: agreement and disagreement of small texts."""
import unittest

from compare import conversions, drop_lines, drop_view_block, first_difference, leaks, map_type_names


def differ(a, b):
    return first_difference(a, b, 1e-6, 1e-10) is not None


class Compare(unittest.TestCase):
    def test_equal_numbers_within_tolerance(self):
        self.assertFalse(differ("norm 1.0000001e+00 its 5", "norm 1.0e0  its 5"))
        self.assertFalse(differ("error < 1e-16", "error < 3.1e-17"))
        self.assertFalse(differ("x nan", "x nan"))

    def test_numbers_that_differ(self):
        self.assertTrue(differ("norm 1.00001", "norm 1.0"))
        self.assertTrue(differ("its 5", "its 6"))
        self.assertTrue(differ("x nan", "x 1."))
        self.assertTrue(differ("row 0: (0, 1.) (1, -1.)", "row 0: (0, 1.) (1, 1.)"))

    def test_words_that_differ(self):
        self.assertTrue(differ("CONVERGED_RTOL", "CONVERGED_ATOL"))
        self.assertTrue(differ("a b", "a b c"))
        self.assertTrue(differ("a b c", "a b"))
        self.assertTrue(differ("a", ""))

    def test_names_of_types(self):
        self.assertEqual(map_type_names("type: seqaijrbp, mpiaijrbp aijrbp", "aijrbp", "aij"), "type: seqaij, mpiaij aij")
        self.assertEqual(map_type_names("seqaijrbpx xaijrbp", "aijrbp", "aij"), "seqaijrbpx xaijrbp")
        self.assertEqual(map_type_names("type: seqaij", "aij", "aij"), "type: seqaij")

    def test_lines_of_the_view(self):
        self.assertEqual(drop_view_block("rows=3\n  packed format x\n    bytes\n  next\n    more"), "rows=3\n  next\n    more")

    def test_lines_left_out(self):
        self.assertEqual(drop_lines("a\nTest b\nc", "Test"), "a\nc")

    def test_conversions_in_the_log(self):
        log = "[0] 1.4 Event begin: MatMult\n  [0] 1.5 Event begin: MatPackConvert\n  [0] 1.6 Event end: MatPackConvert\n"
        self.assertEqual(conversions(log), 1)
        self.assertEqual(conversions(log.replace("Convert", "Refresh")), 0)

    def test_leaks(self):
        self.assertTrue(leaks("fine\n[0]Total space allocated 32 bytes\n"))
        self.assertTrue(leaks("[ 1] 32 bytes MatCreate() at x.c:3"))
        self.assertFalse(leaks("done 32 bytes\n"))


if __name__ == "__main__":
    unittest.main()
