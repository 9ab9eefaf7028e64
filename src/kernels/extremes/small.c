/*
  small.c - extreme singular values and real parts of eigenvalues of small dense matrices, by the methods of Hestenes
  (one-sided Jacobi rotations) and of Francis (shifted QR steps, here in complex numbers, so that one shift suffices).
*/
#include "extremes.h"
#include <complex.h>
#include <float.h>
#include <math.h>

/* Makes two columns orthogonal. Returns whether they were not. */
static int rotate_columns(int n, double *p, double *q)
{
  double pp = 0, qq = 0, pq = 0;

  for (int i = 0; i < n; i++) {
    pp += p[i] * p[i];
    qq += q[i] * q[i];
    pq += p[i] * q[i];
  }
  if (!(fabs(pq) > 4 * DBL_EPSILON * sqrt(pp) * sqrt(qq))) return 0;
  const double z = (qq - pp) / (2 * pq), t = copysign(1, z) / (fabs(z) + sqrt(1 + z * z));
  const double c = 1 / sqrt(1 + t * t), s = c * t;
  for (int i = 0; i < n; i++) {
    const double old = p[i];
    p[i]             = c * old - s * q[i];
    q[i]             = s * old + c * q[i];
  }
  return 1;
}

void spmv_small_singular(int n, int ld, double *a, double *least, double *largest)
{
  enum { SWEEPS = 30 };
  int rotated = 1;

  for (int sweep = 0; rotated && sweep < SWEEPS; sweep++) {
    rotated = 0;
    for (int p = 0; p < n; p++)
      for (int q = p + 1; q < n; q++) rotated |= rotate_columns(n, a + (int64_t)p * ld, a + (int64_t)q * ld);
  }
  *least   = INFINITY;
  *largest = 0;
  for (int j = 0; j < n; j++) {
    double squares = 0;

    for (int i = 0; i < n; i++) squares += a[(int64_t)j * ld + i] * a[(int64_t)j * ld + i];
    *least   = fmin(*least, sqrt(squares));
    *largest = fmax(*largest, sqrt(squares));
  }
}

enum { MOST = SPMV_EXTREMES_STEPS };
typedef double complex Hessenberg[MOST][MOST]; /* by rows */

/* One QR step with this shift in rows and columns first .. last. hypot() would need glibc 2.35. */
static void step(Hessenberg h, int first, int last, double complex shift)
{
  double complex s[MOST];
  double         c[MOST];

  for (int i = first; i <= last; i++) h[i][i] -= shift;
  for (int k = first; k < last; k++) { /* rotations from the left make a triangle ... */
    const double         length = cabs(cabs(h[k][k]) + I * cabs(h[k + 1][k])), a = cabs(h[k][k]);
    const double complex phase = a > 0 ? h[k][k] / a : 1;
    c[k]                       = length > 0 ? a / length : 1;
    s[k]                       = length > 0 ? phase * conj(h[k + 1][k]) / length : 0;
    for (int j = k; j <= last; j++) {
      const double complex up = h[k][j], low = h[k + 1][j];
      h[k][j]     = c[k] * up + s[k] * low;
      h[k + 1][j] = c[k] * low - conj(s[k]) * up;
    }
  }
  for (int k = first; k < last; k++) /* ... and, from the right, a Hessenberg matrix again */
    for (int i = first; i <= k + 1; i++) {
      const double complex left = h[i][k], right = h[i][k + 1];
      h[i][k]     = c[k] * left + conj(s[k]) * right;
      h[i][k + 1] = c[k] * right - s[k] * left;
    }
  for (int i = first; i <= last; i++) h[i][i] += shift;
}

/* The eigenvalue of the last two rows and columns that is closer to the last entry */
static double complex shift_of(Hessenberg h, int last)
{
  const double complex d = h[last][last], half = (h[last - 1][last - 1] - d) / 2;
  const double complex root = csqrt(half * half + h[last][last - 1] * h[last - 1][last]);

  return d + half + (cabs(half + root) < cabs(half - root) ? root : -root);
}

int spmv_small_real_parts(int n, int ld, const double *given, double *least, double *largest)
{
  enum { STEPS = 30, UNUSUAL = 10 /* steps after which another shift ends a cycle of steps */ };
  Hessenberg h;

  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) h[i][j] = i <= j + 1 ? given[(int64_t)j * ld + i] : 0;
  *least   = INFINITY;
  *largest = -INFINITY;
  for (int last = n - 1, steps = 0; last >= 0;) {
    int first = last;

    while (first > 0 &&
           !(cabs(h[first][first - 1]) <= DBL_EPSILON * (cabs(h[first][first]) + cabs(h[first - 1][first - 1]))))
      first--;
    if (first == last) {
      *least   = fmin(*least, creal(h[last][last]));
      *largest = fmax(*largest, creal(h[last][last]));
      last--;
      steps = 0;
    } else {
      if (++steps > STEPS) return 0;
      step(h, first, last, steps % UNUSUAL ? shift_of(h, last) : h[last][last] + cabs(h[last][last - 1]));
    }
  }
  return 1;
}
