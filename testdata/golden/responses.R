# Tweedie, inverse gaussian, zero-inflated Poisson, lognormal, Weibull and log-logistic
# responses, censored and not, and Cox's model, next to R: single log-likelihoods, and
# fits of real data. Writes responses.json next to this script:
#
#   Rscript testdata/golden/responses.R [FOLDER]
#
# Needs R with mgcv (ldTweedie, tw), statmod (dinvgauss), pscl (zeroinfl) and survival
# (survreg, coxph, veteran). FOLDER holds forest_fires.csv, datacar.csv.gz, nmes1988.csv and
# rotterdam.csv (their README says where they are from); only coefficients of them are
# written. Deterministic: no random numbers.
suppressMessages({ library(mgcv); library(statmod); library(pscl); library(survival) })
script <- sub("^--file=", "", grep("^--file=", commandArgs(FALSE), value = TRUE))
folder <- c(commandArgs(TRUE), file.path(dirname(script), "../../../shared/data"))[1]
num <- function(x) { stopifnot(all(is.finite(x))); paste(sprintf("%.17g", x), collapse = ", ") }
arr <- function(x) sprintf("[%s]", num(x))
cases <- character()
add <- function(family, y, w, event, eta, phi, loglik, deviance) {
  cases[[length(cases) + 1]] <<- sprintf('    {"family": "%s", "y": %s, "w": %s, "event": %d, "eta": %s, "phi": %s, "loglik": %s, "deviance": %s}',
    family, num(y), num(w), event, arr(eta), num(phi), num(loglik), if (is.na(deviance)) "null" else num(deviance))
}
for (p in c(1.05, 1.3, 1.5, 1.7, 1.95)) for (phi in c(0.3, 1, 12)) for (y in c(0, 0.02, 1, 35, 900)) for (eta in c(-2, 0.4, 3)) for (w in c(1, 2.5))
  add(sprintf("tweedie(p=%g)", p), y, w, 1, eta, phi, ldTweedie(y, exp(eta), p, phi / w)[1, 1], Tweedie(p)$dev.resids(y, exp(eta), w))
for (phi in c(0.02, 1, 7)) for (y in c(0.03, 1, 250)) for (eta in c(-3, 0.2, 5)) for (w in c(1, 2.5))
  add("inverse-gaussian", y, w, 1, eta, phi, dinvgauss(y, exp(eta), dispersion = phi / w, log = TRUE), inverse.gaussian()$dev.resids(y, exp(eta), w))
for (y in c(0, 1, 4, 60)) for (eta in c(-3, 0.3, 3.4)) for (pi in c(0.02, 0.4, 0.97)) for (w in c(1, 2.5)) {
  l <- w * if (y == 0) log(pi + (1 - pi) * exp(-exp(eta))) else log1p(-pi) + dpois(y, exp(eta), log = TRUE)
  add("zip", y, w, 1, c(eta, qlogis(pi)), 1, l, NA)
  d <- if (y == 0) -2 * l else 2 * w * (dpois(y, y, log = TRUE) - dpois(y, exp(eta), log = TRUE))
  add(sprintf("zip(pi=%g)", pi), y, w, 1, eta, 1, l, d)
}
sets <- list(lognormal = list(function(y, m, s) dlnorm(y, m, s, log = TRUE), function(y, m, s) plnorm(y, m, s, lower.tail = FALSE, log.p = TRUE), "sigma"),
  weibull = list(function(y, m, s) dweibull(y, 1 / s, exp(m), log = TRUE), function(y, m, s) pweibull(y, 1 / s, exp(m), lower.tail = FALSE, log.p = TRUE), "scale"),
  `log-logistic` = list(function(y, m, s) dlogis(log(y), m, s, log = TRUE) - log(y), function(y, m, s) plogis(log(y), m, s, lower.tail = FALSE, log.p = TRUE), "scale"))
for (f in names(sets)) for (y in c(0.01, 1, 300)) for (eta in c(-2, 0.3, 4)) for (s in c(0.3, 1, 2.2)) for (w in c(1, 2.5)) {
  d <- sets[[f]][[1]](y, eta, s); q <- sets[[f]][[2]](y, eta, s)
  best <- sets[[f]][[1]](y, log(y), s)
  add(f, y, w, 1, c(eta, log(s)), 1, w * d, NA)
  add(f, y, w, 0, c(eta, log(s)), 1, w * q, NA)
  held <- sprintf("%s(%s=%g)", f, sets[[f]][[3]], s)
  add(held, y, w, 1, eta, 1, w * d, 2 * w * (best - d))
  add(held, y, w, 0, eta, 1, w * q, -2 * w * q)
}

# Fits of real data: coefficients, and what the fit says at them.
fits <- character()
fit <- function(name, family, data, response, event, subset, columns, coef, zero, more)
  fits[[length(fits) + 1]] <<- sprintf('    {"name": "%s", "family": "%s", "data": "%s", "response": "%s", "event": "%s", "positive": %s, "columns": [%s], "coef": %s, "second": %s, %s}',
    name, family, data, response, event, subset, paste0('"', columns, '"', collapse = ", "), arr(coef), if (is.null(zero)) "[]" else arr(zero), more)
tight <- glm.control(epsilon = 1e-14, maxit = 200)

fires <- read.csv(file.path(folder, "forest_fires.csv"))
g <- gam(area ~ temp + rh + wind, family = tw(), data = fires, method = "ML", control = gam.control(epsilon = 1e-13, newton = list(conv.tol = 1e-10)))
p <- g$family$getTheta(TRUE); eta <- g$linear.predictors; y <- fires$area
phi <- sum(Tweedie(p)$dev.resids(y, exp(eta), 1)) / length(y)
# p and phi that maximise the likelihood at these predictors.
best <- optim(c(0, log(phi)), function(t) -sum(ldTweedie(y, exp(eta), 1.01 + 0.98 * plogis(t[1]), exp(t[2]))[, 1]), method = "BFGS", control = list(reltol = 1e-15, maxit = 500))
fit("area burnt", "tweedie", "forest_fires.csv", "area", "", "false", c("temp", "rh", "wind"), coef(g), NULL,
    sprintf('"power": %s, "phi": %s, "loglik": %s, "best_power": %s, "best_loglik": %s', num(p), num(phi), num(sum(ldTweedie(y, exp(eta), p, phi)[, 1])),
            num(1.01 + 0.98 * plogis(best$par[1])), num(-best$value)))

cars <- read.csv(file.path(folder, "datacar.csv.gz")); cars <- cars[cars$claimcst0 > 0, ]
g <- glm(claimcst0 ~ veh_value + veh_age + agecat, family = inverse.gaussian("log"), data = cars, control = tight)
fit("cost of claims, inverse gaussian", "inverse-gaussian", "datacar.csv.gz", "claimcst0", "", "true", c("veh_value", "veh_age", "agecat"), coef(g), NULL,
    sprintf('"loglik": %s, "deviance": %s, "null": %s', num(logLik(g)), num(deviance(g)), num(g$null.deviance)))
g <- lm(log(claimcst0) ~ veh_value + veh_age + agecat, data = cars)
s <- sqrt(mean(resid(g)^2))
fit("cost of claims, lognormal", "lognormal", "datacar.csv.gz", "claimcst0", "", "true", c("veh_value", "veh_age", "agecat"), coef(g), NULL,
    sprintf('"scale": %s, "loglik": %s', num(s), num(sum(dlnorm(cars$claimcst0, fitted(g), s, log = TRUE)))))

nmes <- read.csv(file.path(folder, "nmes1988.csv"))
z <- zeroinfl(visits ~ chronic + age + school | chronic + age + school, data = nmes, dist = "poisson", control = zeroinfl.control(reltol = 1e-14))
fit("visits", "zip", "nmes1988.csv", "visits", "", "false", c("chronic", "age", "school"), coef(z, "count"), coef(z, "zero"), sprintf('"loglik": %s', num(z$loglik)))

dead <- read.csv(file.path(folder, "rotterdam.csv"))
km <- survreg.control(rel.tolerance = 1e-14, maxiter = 200)
data(cancer, package = "survival")
for (d in c("weibull", "lognormal", "loglogistic")) {
  for (set in c("rotterdam.csv", "veteran")) {
    m <- if (set == "veteran") survreg(Surv(time, status) ~ karno + age, veteran, dist = d, control = km) else
      survreg(Surv(dtime, death) ~ age + nodes + grade, dead, dist = d, control = km)
    fit(paste(set, d), sub("loglogistic", "log-logistic", d), set, if (set == "veteran") "time" else "dtime", if (set == "veteran") "status" else "death", "false",
        if (set == "veteran") c("karno", "age") else c("age", "nodes", "grade"), coef(m), NULL,
        sprintf('"scale": %s, "loglik": %s, "deviance": %s', num(m$scale), num(m$loglik[2]), num(sum(resid(m, "deviance")^2))))
  }
}

# Cox: the partial log-likelihood at half the estimates and at them, and Poisson
# regressions of the events in intervals with the predictor as an offset.
for (set in c("rotterdam.csv", "veteran")) {
  if (set == "veteran") { x <- veteran[c("karno", "age")]; t <- veteran$time; e <- veteran$status } else { x <- dead[c("age", "nodes", "grade")]; t <- dead$dtime; e <- dead$death }
  x <- as.matrix(x)
  m <- coxph(Surv(t, e) ~ x, ties = "breslow", control = coxph.control(eps = 1e-11, toler.chol = 1e-13, iter.max = 50))
  at <- function(b) coxph(Surv(t, e) ~ x, ties = "breslow", init = b, control = coxph.control(iter.max = 0))$loglik[2]
  cuts <- as.numeric(quantile(t[e == 1], 1:6 / 7, type = 1))
  split <- survSplit(Surv(t, e) ~ ., data.frame(t = t, e = e, id = seq_along(t)), cut = cuts, episode = "piece")
  eta <- drop(x %*% coef(m))
  poisson_at <- function(f) glm(e ~ 0 + factor(piece) + offset(f * eta[id] + log(t - tstart)), family = poisson, data = split, control = tight)
  g <- poisson_at(1); h <- poisson_at(0.5)
  fit(paste(set, "cox"), "cox", set, if (set == "veteran") "time" else "dtime", if (set == "veteran") "status" else "death", "false", colnames(x), c(0, coef(m)), NULL,
      sprintf('"partial": %s, "partial_half": %s, "partial_null": %s, "partial_first": %s, "cuts": %s, "log_rates": %s, "poisson_gain": %s', num(at(coef(m))), num(at(coef(m) / 2)), num(at(0 * coef(m))), num(at(c(0, coef(m)[-1]))),
              arr(cuts), arr(coef(g)), num(logLik(g) - logLik(h))))
}

writeLines(c("{",
  sprintf('  "provenance": "%s, mgcv %s, statmod %s, pscl %s, survival %s, testdata/golden/responses.R; veteran is survival\'s (Kalbfleisch and Prentice 1980)",', R.version.string, packageVersion("mgcv"),
          packageVersion("statmod"), packageVersion("pscl"), packageVersion("survival")),
  '  "cases": [', paste(cases, collapse = ",\n"), "  ],", '  "fits": [', paste(fits, collapse = ",\n"), "  ],",
  sprintf('  "veteran": {"time": %s, "status": %s, "karno": %s, "age": %s}', arr(veteran$time), arr(veteran$status), arr(veteran$karno), arr(veteran$age)), "}"),
  file.path(dirname(script), "responses.json"))
