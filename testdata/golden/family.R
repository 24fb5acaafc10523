# Log-likelihoods and deviances of the families, from R's densities and
# family()$dev.resids. Writes family.json next to this script:
#
#   Rscript testdata/golden/family.R
#
# Needs R with mgcv (deviances of nb, betar and scat). Deterministic: no random numbers.
suppressMessages(library(mgcv))
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
out <- file.path(dirname(script), "family.json")

num <- function(x) {
  stopifnot(all(is.finite(x)))
  sprintf("%.17g", x)
}
case <- function(family, y, w, eta, phi, loglik, deviance, reason) {
  sprintf('    {"family": "%s", "y": %s, "w": %s, "eta": [%s], "phi": %s, "loglik": %s, "deviance": %s, "reason": "%s"}',
          family, num(y), num(w), paste(num(eta), collapse = ", "), num(phi), num(loglik),
          if (is.na(deviance)) "null" else num(deviance), reason)
}
cases <- character()
add <- function(...) cases[[length(cases) + 1]] <<- case(...)

# Gaussian: variance phi / w.
for (y in c(-3.25, 0, 1e6)) for (eta in c(-3.25, 0.5, 999999)) for (w in c(1, 0.3, 25)) for (phi in c(1, 1e-4, 730)) {
  add("gaussian", y, w, eta, phi, dnorm(y, eta, sqrt(phi / w), log = TRUE),
      gaussian()$dev.resids(y, eta, w), "grid")
}

# Binomial, responses 0 and 1: dbinom where 1 - p is not rounded, plogis(log.p)
# elsewhere; deviances only where dev.resids keeps its digits.
for (y in 0:1) for (eta in c(-4, -0.7, 0, 0.1, 3)) for (w in c(1, 2.5)) {
  p <- plogis(eta)
  add("binomial", y, w, eta, 1, w * dbinom(y, 1, p, log = TRUE), binomial()$dev.resids(y, p, w), "0 or 1")
}
for (y in 0:1) for (eta in c(-700, -40, 40, 700)) {
  l <- if (y == 1) plogis(eta, log.p = TRUE) else plogis(eta, lower.tail = FALSE, log.p = TRUE)
  add("binomial", y, 1, eta, 1, l, -2 * l, "far from the data; the deviance of 0 or 1 is -2 log-likelihood")
}
# Binomial, proportions of w trials: dbinom less its coefficient.
for (trials in c(3, 40)) for (successes in c(1, 2)) for (eta in c(-3, -0.5, 0, 2)) {
  p <- plogis(eta); y <- successes / trials
  add("binomial", y, trials, eta, 1,
      dbinom(successes, trials, p, log = TRUE) - lchoose(trials, successes),
      binomial()$dev.resids(y, p, trials), "proportion")
}

# Binomial by the complementary log-log: its inverse is binomial("cloglog")$linkinv where that
# is not cut off, and log p, log(1 - p) as they are defined elsewhere.
for (y in 0:1) for (eta in c(-4, -0.7, 0, 0.1, 1.5)) for (w in c(1, 2.5)) {
  p <- binomial("cloglog")$linkinv(eta)
  add("binomial(link=cloglog)", y, w, eta, 1, w * dbinom(y, 1, p, log = TRUE), binomial()$dev.resids(y, p, w), "0 or 1")
}
for (y in 0:1) for (eta in c(-700, -40, -36, 2.5, 5, 6.5)) {
  l <- if (y == 0) -exp(eta) else if (eta < -37) eta else if (eta < 0) log(-expm1(-exp(eta))) else log1p(-exp(-exp(eta)))
  add("binomial(link=cloglog)", y, 1, eta, 1, l, -2 * l, "far from the data; the deviance of 0 or 1 is -2 log-likelihood")
}
for (trials in c(3, 40)) for (successes in c(1, 2)) for (eta in c(-3, -0.5, 0, 1)) {
  p <- binomial("cloglog")$linkinv(eta); y <- successes / trials
  add("binomial(link=cloglog)", y, trials, eta, 1,
      dbinom(successes, trials, p, log = TRUE) - lchoose(trials, successes),
      binomial()$dev.resids(y, p, trials), "proportion")
}

# Poisson; large counts with eta a fixed distance from log(y).
for (y in c(0, 1, 2, 7, 15, 16, 17, 60)) for (eta in c(-5, -0.3, 0, 2, 4.5)) for (w in c(1, 1.7)) {
  mu <- exp(eta)
  add("poisson", y, w, eta, 1, w * dpois(y, mu, log = TRUE), poisson()$dev.resids(y, mu, w), "grid")
}
for (y in c(1000, 123456, 1e9)) for (step in c(-0.5, 0.25, 1)) {
  eta <- log(y) + step; mu <- exp(eta)
  add("poisson", y, 1, eta, 1, dpois(y, mu, log = TRUE), poisson()$dev.resids(y, mu, 1), "large count")
}

# Gamma: shape w / phi, mean exp(eta).
for (y in c(0.02, 1, 730.5)) for (eta in c(-3, 0.4, 7)) for (w in c(1, 2.5)) for (phi in c(1, 0.01, 3)) {
  s <- w / phi
  add("gamma", y, w, eta, phi, dgamma(y, shape = s, rate = s / exp(eta), log = TRUE), Gamma()$dev.resids(y, exp(eta), w), "grid")
}

# Gaussian of two predictors: mean and log or softplus of the standard deviation.
for (y in c(-2, 0.75)) for (mu in c(-2, 1)) for (s in c(-6, -0.4, 0, 1.3, 30)) for (w in c(1, 4.5)) {
  add("gaussian log scale", y, w, c(mu, s), 1, dnorm(y, mu, exp(s) / sqrt(w), log = TRUE), NA, "grid")
  add("gaussian softplus scale", y, w, c(mu, s), 1,
      dnorm(y, mu, -plogis(-s, log.p = TRUE) / sqrt(w), log = TRUE), NA, "grid")
}

# Negative binomial: weights repeat a row. The family of one predictor has theta in
# its name; its deviance is that of mgcv's nb.
for (y in c(0, 1, 3, 20, 500)) for (eta in c(-3, 0.5, 3.2)) for (theta in c(0.05, 1.5, 40)) for (w in c(1, 2.5)) {
  l <- w * dnbinom(y, size = theta, mu = exp(eta), log = TRUE)
  add("negative-binomial", y, w, c(eta, log(theta)), 1, l, NA, "grid")
  add(sprintf("negative-binomial(theta=%g)", theta), y, w, eta, 1, l, nb(theta = theta)$dev.resids(y, exp(eta), w), "theta held, mgcv's nb")
}
for (y in c(2, 400)) for (theta in c(1e3, 1e4)) { # dnbinom itself loses digits beyond
  add("negative-binomial", y, 1, c(log(y) + 0.1, log(theta)), 1, dnbinom(y, size = theta, mu = exp(log(y) + 0.1), log = TRUE), NA, "large theta")
}

# Beta: dbeta; the deviance next to mgcv's saturated log-likelihood.
for (y in c(0.003, 0.3, 0.6, 0.99)) for (eta in c(-2, 0.1, 3)) for (phi in c(0.8, 6, 150)) for (w in c(1, 2.5)) {
  mu <- plogis(eta)
  l <- dbeta(y, mu * phi, plogis(-eta) * phi, log = TRUE)
  add("beta", y, w, c(eta, log(phi)), 1, w * l, NA, "grid")
  # The mean that maximises the density, where mgcv's saturated log-likelihood is.
  at <- uniroot(function(e) qlogis(y) - digamma(plogis(e) * phi) + digamma(plogis(-e) * phi), qlogis(y) + c(-9, 9), tol = 1e-14)$root
  best <- dbeta(y, plogis(at) * phi, plogis(-at) * phi, log = TRUE)
  stopifnot(abs(best - betar(theta = phi)$saturated.ll(c(y, y), c(1, 1), phi)$term[1]) < 1e-4)
  add(sprintf("beta(phi=%g)", phi), y, w, eta, 1, w * l, 2 * w * max(0, best - l), "phi held, mgcv's betar")
}
for (y in c(1e-12, 1e-300)) for (eta in c(-20, -2)) {
  a <- plogis(eta) * 5
  add("beta", y, 1, c(eta, log(5)), 1, dbeta(y, a, 5 - a, log = TRUE), NA, "next to 0")
}
for (y in c(0.4999, 0.5)) for (phi in c(1e6, 1e9)) {
  add("beta", y, 1, c(0.001, log(phi)), 1, dbeta(y, plogis(0.001) * phi, plogis(-0.001) * phi, log = TRUE), NA, "large precision")
}

# Student's t; the deviance is that of mgcv's scat.
for (y in c(-30, 0, 0.75, 2000)) for (mu in c(-2, 0.7)) for (s in c(-2, 0.4)) for (df in c(0.7, 4, 60)) for (w in c(1, 2.5)) {
  l <- w * (dt((y - mu) / exp(s), df, log = TRUE) - s)
  add("student-t", y, w, c(mu, s, log(df)), 1, l, NA, "grid")
  add(sprintf("student-t(df=%g)", df), y, w, c(mu, s), 1, l, NA, "df held")
  if (df > 3) {
    # The parameters of scat are log(df - 3) and log sigma.
    fam <- scat(theta = c(df, exp(s)))
    add(sprintf("student-t(sigma=%.17g,df=%g)", exp(s), df), y, w, mu, 1, l, fam$dev.resids(y, mu, w), "sigma and df held, mgcv's scat")
  }
}
for (df in c(1e6, 1e12)) for (y in c(0.1, 9)) {
  add("student-t", y, 1, c(0, 0, log(df)), 1, dt(y, df, log = TRUE), NA, "nearly gaussian")
}

writeLines(c("{",
  sprintf('  "provenance": "%s, mgcv %s, testdata/golden/family.R: dnorm, dbinom, dpois, dgamma, dnbinom, dbeta, dt, plogis, family()$dev.resids; no seed (a fixed grid)",', R.version.string, packageVersion("mgcv")),
  '  "cases": [', paste(cases, collapse = ",\n"), "  ]", "}"), out)
