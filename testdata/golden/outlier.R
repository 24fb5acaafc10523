# Smooths of a column with one value far from all others, as mgcv fits them: for
# decompose/outlier_test.go.
#
#   Rscript testdata/golden/outlier.R     (from the module root; needs mgcv, jsonlite)
#
# Writes testdata/golden/outlier.json (schema: README.md). Seeded. At 1e9 the knots of
# ps, bs and cp leave next to no row for most basis functions, and those of cr, cs and
# cc, at quantiles, nearly all rows on one side of the last. Thin plate splines are not
# among the cases at 1e9: mgcv itself refuses them on these rows ("S[[1]] matrix is not +ve
# definite") or stops with step failures.
suppressPackageStartupMessages({library(mgcv); library(jsonlite)})
seed <- 20311
set.seed(seed)
n <- 400
d <- data.frame(x = round(runif(n), 4), z = round(runif(n), 4))
d$x[100] <- 1e9
d$y <- round(sin(6 * d$x * (d$x < 2)) + d$z + rnorm(n, 0, 0.1), 4)
control <- gam.control(epsilon = 1e-14, newton = list(conv.tol = 1e-11, maxNstep = 5,
                       maxSstep = 2, maxHalf = 50, use.svd = FALSE))
at <- round(seq(1, n, length.out = 41)); at <- sort(unique(c(at, 100)))
cases <- lapply(c("cr", "cs", "cc", "ps", "bs", "cp"), function(bs) {
  formula <- sprintf('y ~ s(x, bs = "%s") + z', bs)
  run <- function(sp = NULL) suppressWarnings(gam(as.formula(formula), data = d, method = "REML", sp = sp, control = control))
  chosen <- run()
  one <- function(sp, score) {
    b <- run(sp)
    X <- predict(b, type = "lpmatrix"); s <- b$smooth[[1]]; cols <- s$first.para:s$last.para
    x <- sweep(X[at, cols], 2, colMeans(X[, cols]))
    list(sp = as.numeric(sp), score = as.numeric(b$gcv.ubre), edf = sum(b$edf), values = as.numeric(x %*% coef(b)[cols]))
  }
  list(formula = formula, bs = bs, chosen = list(sp = as.numeric(chosen$sp), score = as.numeric(chosen$gcv.ubre)),
       at = list(one(as.numeric(chosen$sp)), one(1)))
})
# Nearer values, of which mgcv finds the optimum by its usual control: the thin plates'
# lambda is many orders of magnitude below where X'WX and the penalty balance, and the
# products of the tensor product have lost their digits. Scores alone.
nearer <- lapply(list(list(1e3, "s(x) + z"), list(1e4, "te(x, z)"), list(1e6, 's(x, bs = "ps") + z')), function(a) {
  d$x[100] <- a[[1]]
  b <- suppressWarnings(gam(as.formula(paste("y ~", a[[2]])), data = d, method = "REML"))
  list(far = a[[1]], formula = paste("~", a[[2]]), score = as.numeric(b$gcv.ubre), edf = sum(b$edf))
})
provenance <- list(R = R.version.string, mgcv = as.character(packageVersion("mgcv")), seed = seed, script = "testdata/golden/outlier.R")
write_json(list(provenance = provenance, data = as.list(d), rows = at - 1, cases = cases, nearer = nearer),
           "testdata/golden/outlier.json", auto_unbox = TRUE, digits = 15)
