# Penalised additive models at given smoothing parameters, which training without
# a deep part must reach: R 4.2, mgcv 1.8. Then unpenalised maximum likelihood fits
# of families with shapes, by optim on R's densities.
#
#   Rscript testdata/golden/native.R        writes testdata/golden/native.json
suppressMessages(library(mgcv))
set.seed(1)
n <- 200
x1 <- round(runif(n, -1, 1), 6)
x2 <- round(runif(n, -1, 1), 6)
g <- sample(c("a", "b", "c"), n, TRUE)
w <- round(runif(n, 0.5, 2), 3)
o <- round(rnorm(n, 0, 0.3), 3)
f <- x1 + sin(3 * x2) + 0.5 * (g == "b")
y <- round(10 + 4 * f + rnorm(n), 6)
b <- rbinom(n, 1, plogis(f))
count <- rpois(n, exp(0.6 * f + o))
positive <- round(rgamma(n, 2, rate = 2 / exp(0.6 * f)) + 1e-4, 6)
overcount <- rnbinom(n, size = 1.5, mu = exp(0.8 * f + o))
share <- round(rbeta(n, 6 * plogis(f), 6 * plogis(-f)), 6)
heavy <- round(50 + 7 * (x1 + 0.5 * (g == "b") + 0.4 * rt(n, 3)), 6)
d <- data.frame(positive, x1, x2, g = factor(g), w, o, y, b, count)
ctl <- gam.control(epsilon = 1e-14, maxit = 500)
fit <- function(formula, family, sp, weight = rep(1, n)) {
  d$weight <- weight
  m <- gam(formula, family = family, data = d, sp = sp, control = ctl, weights = weight)
  # The linear predictor without offset.
  eta <- as.numeric(predict(m, type = "link"))
  list(family = family$family, sp = sp, eta = eta)
}
cases <- list(
  fit(y ~ x1 + g + s(x2, bs = "ps", k = 8), gaussian(), 0.7, w),
  fit(b ~ x1 + g + s(x2, bs = "ps", k = 8), binomial(), 0.7),
  fit(count ~ x1 + g + s(x2, bs = "ps", k = 8) + offset(o), poisson(), 0.7),
  fit(positive ~ x1 + g + s(x2, bs = "ps", k = 8), Gamma("log"), 0.7, w))
cases[[3]]$eta <- cases[[3]]$eta - o
# eta = X b + offset, shapes = exp(the rest of the parameters).
X <- model.matrix(~ x1 + g)
ml <- function(family, density, start, offset = 0, link = identity) {
  p <- ncol(X)
  f <- function(v) -sum(w * density(link(X %*% v[1:p] + offset), exp(v[-(1:p)])))
  v <- start
  for (i in 1:40) v <- optim(v, f, method = if (i %% 2) "BFGS" else "Nelder-Mead", control = list(reltol = 1e-16, maxit = 4000, ndeps = rep(1e-5, length(v))))$par
  list(family = family, eta = as.numeric(X %*% v[1:p]), shapes = exp(v[-(1:p)]), loglik = -f(v))
}
shaped <- list(
  ml("negative-binomial", function(mu, theta) dnbinom(overcount, size = theta, mu = mu, log = TRUE), c(0, 0, 0, 0, 0), o, exp),
  ml("beta", function(mu, phi) dbeta(share, mu * phi, (1 - mu) * phi, log = TRUE), c(0, 0, 0, 0, 1), 0, plogis),
  ml("student-t", function(mu, s) dt((heavy - mu) / s[1], s[2], log = TRUE) - log(s[1]), c(50, 7, 0, 0, 1, 1.5)))
num <- function(v) paste0("[", paste(formatC(v, digits = 15, format = "g", flag = ""), collapse = ", "), "]")
txt <- function(v) paste0("[", paste0('"', v, '"', collapse = ", "), "]")
col <- function(name, v) sprintf('"%s": %s', name, num(v))
out <- c("{", sprintf('"provenance": "%s, mgcv %s, testdata/golden/native.R",', R.version.string, packageVersion("mgcv")),
  paste0(col("x1", x1), ","), paste0(col("x2", x2), ","), paste0('"g": ', txt(g), ","), paste0(col("w", w), ","), paste0(col("o", o), ","),
  paste0(col("y", y), ","), paste0(col("b", b), ","), paste0(col("count", count), ","), paste0(col("positive", positive), ","),
  paste0(col("overcount", overcount), ","), paste0(col("share", share), ","), paste0(col("heavy", heavy), ","),
  '"cases": [', paste(sapply(cases, function(c) sprintf('{"family": "%s", "sp": %g, "eta": %s}', c$family, c$sp, num(c$eta))), collapse = ",\n"), "],",
  '"shaped": [', paste(sapply(shaped, function(c) sprintf('{"family": "%s", "shapes": %s, "loglik": %s, "eta": %s}', c$family, num(c$shapes), num(c$loglik), num(c$eta))), collapse = ",\n"), "]}")
writeLines(out, "testdata/golden/native.json")
