# Linear terms under ridge penalties, fitted by mgcv with REML, for package basis.
#
#   Rscript testdata/golden/ridge.R        (from the module root; needs mgcv, jsonlite)
#
# Writes testdata/golden/basis/ridge.json: for each case the formula here, the smoothing
# parameters, the edf, the fit, the slopes of the columns as they are, and -REML. Columns are
# divided by their standard deviations (divisor: the sum of the weights) before they are
# penalised, by paraPen. Of more columns than rows mgcv takes the principal components: a
# ridge is the same in any orthonormal coordinates, and directions without data have slope 0.
suppressPackageStartupMessages({library(mgcv); library(jsonlite)})
set.seed(511)
sd_w <- function(x, w) sqrt(sum(w * (x - sum(w * x) / sum(w))^2) / sum(w))
control <- gam.control(epsilon = 1e-10, newton = list(conv.tol = 1e-9))
make <- function(n, p) {
  X <- matrix(rnorm(n * p), n) + rnorm(n) # correlated
  X <- round(sweep(X, 2, 10^seq(-2, 2, length = p), "*"), 4)
  colnames(X) <- paste0("x", 1:p)
  d <- data.frame(X, v = round(runif(n), 3), g = sample(letters[1:6], n, TRUE), h = sample(LETTERS[1:5], n, TRUE), w = round(runif(n, 0.5, 2), 2))
  d$y <- round(as.numeric(scale(X) %*% c(1, -0.7, 0.4, rep(0, p - 3))) + sin(5 * d$v) + 0.3 * match(d$g, letters) + 0.2 * match(d$h, LETTERS) + rnorm(n), 4)
  d
}
small <- make(80, 6); wide <- make(40, 60)
result <- function(name, ours, data, b, slopes, weights = FALSE)
  list(name = name, formula = ours, data = data, weights = weights, sp = I(as.numeric(b$sp)), edf = sum(b$edf), score = as.numeric(b$gcv.ubre),
       fitted = as.numeric(fitted(b)), slopes = as.list(slopes))
# standardised gives the columns over their sd, and slopes back in the columns' own units.
standardised <- function(d, columns, w = rep(1, nrow(d))) {
  X <- as.matrix(d[columns]); s <- apply(X, 2, sd_w, w = w)
  list(X = sweep(X, 2, s, "/"), s = s)
}
ridge <- function(name, ours, data, d, columns, rest = "", weights = FALSE) {
  w <- if (weights) d$w else rep(1, nrow(d))
  z <- standardised(d, columns, w)
  V <- diag(length(columns))
  if (ncol(z$X) >= nrow(d)) V <- svd(scale(z$X, scale = FALSE), nv = nrow(d) - 1)$v
  d$X <- z$X %*% V; d$weight <- w
  b <- gam(as.formula(paste("y ~ X", rest)), data = d, weights = weight, method = "REML", paraPen = list(X = list(diag(ncol(V)))), control = control)
  slopes <- as.numeric(V %*% coef(b)[1 + seq_len(ncol(V))]) / z$s
  result(name, ours, data, b, setNames(slopes, columns), weights)
}
all <- paste0("x", 1:6)
cases <- list(
  ridge("ridge", "~ ridge(x1..x6)", "small", small, all),
  ridge("ridge_weights", "~ ridge(x1..x6)", "small", small, all, weights = TRUE),
  ridge("ridge_smooth", '~ ridge(x1, x2, x5) + s(v, bs = "cr", k = 8)', "small", small, c("x1", "x2", "x5"), '+ s(v, bs = "cr", k = 8)'),
  ridge("more_columns_than_rows", "~ ridge(x1..x60)", "wide", wide, paste0("x", 1:60)))
small$g <- factor(small$g); small$h <- factor(small$h)
# mgcv's "re" takes no id: levels of both factors under one penalty are the same model.
small$X <- cbind(model.matrix(~ g - 1, small), model.matrix(~ h - 1, small))
b <- gam(y ~ X, data = small, method = "REML", paraPen = list(X = list(diag(ncol(small$X)))), control = control)
small$X <- NULL
cases[[5]] <- result("re_id", '~ s(g, bs = "re", id = 1) + s(h, bs = "re", id = 1)', "small", b, setNames(list(), character(0)))
z <- standardised(small, c("x1", "x4")); small$z1 <- z$X[, 1]; small$z4 <- z$X[, 2]
b <- gam(y ~ z1 + z4 + s(g, bs = "re"), data = small, method = "REML", paraPen = list(z1 = list(diag(1)), z4 = list(diag(1))), control = control)
cases[[6]] <- c(result("select", "~ x1 + x4 + g", "small", b, setNames(coef(b)[2:3] / z$s, c("x1", "x4"))), select = TRUE)
meta <- list(generator = "testdata/golden/ridge.R", R = R.version.string, mgcv = as.character(packageVersion("mgcv")), seed = 511)
columns <- function(d) lapply(as.list(d[setdiff(names(d), c("z1", "z4"))]), function(x) if (is.factor(x)) as.character(x) else x)
writeLines(toJSON(list(meta = meta, data = list(small = columns(small), wide = columns(wide)), cases = cases), digits = I(15), auto_unbox = TRUE),
           "testdata/golden/basis/ridge.json")
for (c in cases) cat(c$name, "sp", c$sp, "edf", c$edf, "\n")
