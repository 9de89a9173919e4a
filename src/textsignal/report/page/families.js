// Families of responses: from the linear predictor to the response. Names follow textsignal.families.
// Every family has a mean; one with levels has the probability of each, another its distribution function `cdf(eta, x)`
// and the ends of a central interval.
"use strict";

const expit = (x) => 1 / (1 + Math.exp(-x));
const sumOf = (values) => values.reduce((a, b) => a + b, 0);

// log C(n, y) for y = 0..n.
function logWays(n) {
  const found = [0];
  for (let y = 1; y <= n; y += 1) found.push(found[y - 1] + Math.log((n - y + 1) / y));
  return found;
}

// exp(scores) over their sum.
function softmax(scores) {
  const highest = Math.max(...scores);
  const parts = scores.map((score) => Math.exp(score - highest));
  const whole = sumOf(parts);
  return parts.map((part) => part / whole);
}

// 1 - erf(x) for x >= 0: a series near 0, a continued fraction further out.
function erfc(x) {
  if (x < 2.5) {
    let [term, sum] = [x, x];
    for (let k = 1; k < 200 && Math.abs(term) > 1e-18 * Math.abs(sum); k += 1) {
      term *= (-x * x) / k;
      sum += term / (2 * k + 1);
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * sum;
  }
  let fraction = 0;
  for (let k = 60; k > 0; k -= 1) fraction = k / 2 / (x + fraction);
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / (x + fraction);
}
const normalCdf = (z) => (z < 0 ? erfc(-z / Math.SQRT2) / 2 : 1 - erfc(z / Math.SQRT2) / 2);
const NORMAL_95 = 1.6448536269514722;

// A family of levels, which are numbers: how probable each is.
const ofLevels = (levels, probabilities) => ({
  probabilities,
  mean: (eta) => sumOf(probabilities(eta).map((p, i) => p * levels[i])),
});
const steps = ({ n, lowest, step }) => range(n + 1).map((y) => lowest + step * y);

// Counts, of which `next(y, m)` is the ratio of P(y + 1) to P(y) and `none(m)` the logarithm of P(0).
function ofCounts(none, next) {
  const mean = (eta) => Math.exp(Math.min(eta, 100));
  // The first count at which `stop(y, P(up to y))` holds.
  function walk(eta, stop) {
    const m = mean(eta);
    let [y, logP, below] = [0, none(m), 0];
    for (;;) {
      below += Math.exp(logP);
      if (stop(y, below) || y > 1e6) return { y, below };
      logP += Math.log(next(y, m));
      y += 1;
    }
  }
  const quantile = (eta, q) => walk(eta, (y, below) => below >= q).y;
  return {
    mean,
    probabilities: null,
    cdf: (eta, x) => (x < 0 ? 0 : walk(eta, (y) => y >= Math.floor(x)).below),
    interval: (eta) => [quantile(eta, 0.05), quantile(eta, 0.95)],
  };
}

const responseFamilies = {
  binomial: (given) => {
    const ways = logWays(given.n);
    const levels = steps(given);
    const probabilities = (eta) => {
      const [logP, logQ] = [-Math.log1p(Math.exp(-eta)), -Math.log1p(Math.exp(eta))];
      return levels.map((_, y) => Math.exp(ways[y] + (y && y * logP) + (given.n - y && (given.n - y) * logQ)));
    };
    return { probabilities, mean: (eta) => given.lowest + given.n * given.step * expit(eta) };
  },
  "beta-binomial": (given) => {
    const [ways, levels] = [logWays(given.n), steps(given)];
    const probabilities = (eta) => {
      const [p, q] = [expit(eta), expit(-eta)];
      const logOf = (chance, times) => sumOf(range(times).map((j) => Math.log(chance + j * given.dispersion)));
      return softmax(levels.map((_, y) => ways[y] + logOf(p, y) + logOf(q, given.n - y)));
    };
    return { probabilities, mean: (eta) => given.lowest + given.n * given.step * expit(eta) };
  },
  "adjacent-categories": (given) => responseFamilies.stereotype({ ...given, places: logWays(given.n).map((_, y) => y) }),
  stereotype: (given) => {
    const ways = logWays(given.n);
    const scores = (eta) => ways.map((way, y) => way + given.offsets[y] + given.places[y] * eta);
    return ofLevels(steps(given), (eta) => softmax(scores(eta)));
  },
  ordinal: ({ values, thresholds }) => {
    const upTo = (eta) => [0, ...thresholds.map((threshold) => expit(threshold - eta)), 1];
    return ofLevels(values, (eta) => upTo(eta).slice(1).map((up, l) => up - upTo(eta)[l]));
  },
  bernoulli: ({ labels }) => ofLevels(labels, (eta) => [expit(-eta), expit(eta)]),
  poisson: () => ofCounts((m) => -m, (y, m) => m / (y + 1)),
  "negative-binomial": ({ dispersion: a }) =>
    ofCounts((m) => -Math.log1p(a * m) / a, (y, m) => (((y + 1 / a) / (y + 1)) * a * m) / (1 + a * m)),
  gaussian: ({ deviation }) => ({
    mean: (eta) => eta,
    probabilities: null,
    cdf: (eta, x) => normalCdf((x - eta) / deviation),
    interval: (eta) => [eta - NORMAL_95 * deviation, eta + NORMAL_95 * deviation],
  }),
};
