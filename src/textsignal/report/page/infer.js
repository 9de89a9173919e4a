// Weights of a text given themes, as textsignal.compute.kernels.reference finds them.
"use strict";

// themes : terms x themes, in rows; K : number of themes.
function inference(given, themes, K) {
  const mass = new Array(K).fill(0);
  themes.forEach((value, place) => (mass[place % K] += value));

  // d_j = (wH)_j + epsilon at the row's terms.
  function reconstruct({ columns }, w) {
    return columns.map((j) => {
      let d = 0;
      for (let k = 0; k < K; k += 1) d += w[k] * themes[j * K + k];
      return d + given.epsilon;
    });
  }

  function pull(text, w) {
    const d = reconstruct(text, w);
    const sums = new Array(K).fill(0);
    text.columns.forEach((j, p) => {
      const ratio = text.values[p] / d[p];
      for (let k = 0; k < K; k += 1) sums[k] += ratio * themes[j * K + k];
    });
    return { d, sums };
  }

  function multiplicativeStep(text, w) {
    const { sums } = pull(text, w);
    let largest = 0;
    for (let k = 0; k < K; k += 1) {
      const upper = w[k] * sums[k] + given.smoothing;
      if (mass[k] > 0 && w[k] > 0) largest = Math.max(largest, upper / (w[k] * mass[k]));
      w[k] = mass[k] > 0 ? upper / mass[k] : 0;
    }
    return largest - 1;
  }

  function newtonStep(text, w) {
    const { d, sums } = pull(text, w);
    const A = range(K).map((k) =>
      range(K).map((l) => (k !== l ? 0 : mass[k] > 0 ? given.smoothing / (w[k] * w[k]) : 1)),
    );
    text.columns.forEach((j, p) => {
      const bend = text.values[p] / d[p] / d[p];
      for (let k = 0; k < K; k += 1) {
        for (let l = 0; l < K; l += 1) A[k][l] += bend * themes[j * K + k] * themes[j * K + l];
      }
    });
    const gradient = range(K).map((k) => (mass[k] > 0 ? mass[k] - sums[k] - given.smoothing / w[k] : 0));
    const direction = solve(A, gradient);
    let [longest, decrement, size, change] = [1, 0, 0, 0];
    for (let k = 0; k < K; k += 1) {
      decrement += gradient[k] * direction[k];
      size += mass[k] * w[k];
      change += mass[k] * direction[k];
      if (direction[k] > 0) longest = Math.min(longest, (given.mostOfTheWay * w[k]) / direction[k]);
    }
    for (let k = 0; k < K; k += 1) w[k] -= longest * direction[k];
    return decrement / 2 / (size - longest * change);
  }

  // A x = b for a positive definite A, by Cholesky.
  function solve(A, b) {
    const L = A.map((line) => line.slice());
    for (let i = 0; i < K; i += 1) {
      for (let j = 0; j <= i; j += 1) {
        let sum = L[i][j];
        for (let k = 0; k < j; k += 1) sum -= L[i][k] * L[j][k];
        L[i][j] = i === j ? Math.sqrt(sum) : sum / L[j][j];
      }
    }
    const x = b.slice();
    for (let i = 0; i < K; i += 1) {
      for (let k = 0; k < i; k += 1) x[i] -= L[i][k] * x[k];
      x[i] /= L[i][i];
    }
    for (let i = K - 1; i >= 0; i -= 1) {
      for (let k = i + 1; k < K; k += 1) x[i] -= L[k][i] * x[k];
      x[i] /= L[i][i];
    }
    return x;
  }

  function weights(text) {
    const known = text.columns.some((j) => range(K).some((k) => themes[j * K + k] > 0));
    if (!known) return { w: given.fallback.slice(), unknown: true };
    const total = text.values.reduce((sum, x) => sum + x, 0) + given.smoothing * K;
    const alive = mass.filter((m) => m > 0).length;
    const w = mass.map((m) => (m > 0 ? total / m / alive : 0));
    for (let step = 0; step < given.maxSteps; step += 1) {
      const newton = given.smoothing > 0 && step >= given.firstSteps;
      const gap = newton ? newtonStep(text, w) : multiplicativeStep(text, w);
      if (step > 0 && gap < given.tol) break;
    }
    return { w, unknown: false };
  }

  return { weights };
}
