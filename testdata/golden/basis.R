# Basis values and penalties as mgcv constructs them, for package basis.
#
#   Rscript testdata/golden/basis.R        (from the module root; needs mgcv, jsonlite)
#
# Writes testdata/golden/basis/univariate.json and by.json. Values come from
# smooth.construct and Predict.matrix: raw bases before constraints and before
# the penalty is rescaled; scale is smoothCon's S.scale. Matrices are row by row.
suppressPackageStartupMessages({library(mgcv); library(jsonlite)})

set.seed(20231)
n <- 40
x <- round(1 + 3 * rbeta(n, 1.3, 2), 3)
x[7] <- x[3]; x[9] <- x[3]                      # ties: quantiles are of unique values
outside <- function(lo, hi) { w <- hi - lo; c(lo - 2 * w, lo - 0.3 * w, lo, hi, hi + 1e-4 * w, hi + 0.7 * w, hi + 5) }
rows <- function(m) unname(split(unname(m), row(m)))

case <- function(name, reason, bs, k, m = NULL, knots = NULL, right = TRUE) {
  spec <- if (is.null(m)) s(x, bs = bs, k = k) else s(x, bs = bs, k = k, m = m)
  kn <- if (is.null(knots)) NULL else list(x = knots)
  sm <- suppressWarnings(smooth.construct(spec, data = list(x = x), knots = kn))
  sc <- suppressWarnings(smoothCon(spec, data = data.frame(x = x), knots = kn, absorb.cons = FALSE))[[1]]
  lo <- min(x); hi <- max(x)
  at <- c(outside(lo, hi), seq(lo, hi, length = 12), as.numeric(sm$xp))
  if (!right) at <- at[at <= hi]
  list(name = name, reason = reason, bs = bs, k = k, m = if (is.null(m)) integer(0) else m,
       knots_given = if (is.null(knots)) numeric(0) else knots,
       knots = unname(if (bs == "ps") sm$knots else sm$xp), S = rows(sm$S[[1]]), scale = sc$S.scale,
       X = rows(sm$X), at = at, at_X = rows(Predict.matrix(sm, data.frame(x = at))))
}

full <- c(-1, 0, 0.5, 0.9, 1.5, 2.2, 2.5, 3, 4.1, 4.5, 5, 6)
cases <- list(
  case("ps10", "the default, m = c(2, 2)", "ps", 10),
  case("ps20", "the paper's basis dimension", "ps", 20, c(2, 2)),
  case("ps4", "the least k: one interval", "ps", 4),
  case("ps8m11", "quadratic, first differences", "ps", 8, c(1, 1)),
  case("ps6m01", "broken lines; right of the data mgcv 1.8-41 goes on as a constant, we as a line: not compared", "ps", 6, c(0, 1), right = FALSE),
  case("ps8m21", "m1 and m2 differ", "ps", 8, c(2, 1)),
  case("ps12m32", "quartic", "ps", 12, c(3, 2)),
  case("ps8m23", "third differences", "ps", 8, c(2, 3)),
  case("ps8m20", "order 0: a ridge", "ps", 8, c(2, 0)),
  case("ps9m1", "one value of m stands for both", "ps", 9, 1),
  case("ps10range", "knots = the range", "ps", 10, knots = c(0, 5)),
  case("ps8knots", "all knots given, not equispaced", "ps", 8, knots = full),
  case("cr10", "the default", "cr", 10),
  case("cr3", "the least k", "cr", 3),
  case("cr20", "many knots", "cr", 20),
  case("cr5knots", "knots given, data beyond them", "cr", 5, knots = c(1.2, 1.5, 2, 2.6, 3)))
meta <- list(generator = "testdata/golden/basis.R", R = R.version.string, mgcv = as.character(packageVersion("mgcv")), seed = 20231)
out <- function(v, file) write(toJSON(v, digits = I(17), auto_unbox = TRUE), file.path("testdata/golden/basis", file))
boxed <- function(c) { c$m <- I(c$m); c$knots_given <- I(c$knots_given); c }
out(list(meta = meta, x = x, cases = lapply(cases, boxed)), "univariate.json")

# by: labels, rows and which columns are constrained (C of smoothCon, 0 rows: not).
m <- 12
d <- data.frame(x = x[1:m], z = round(rnorm(m), 3), two = rep(2, m), g = factor(c("b", "10", "a", "a", "b", "b", "10", "a", "b", "10", "a", "b")),
                h = factor(c(10, 9, 2, 2, 9, 10, 10, 2, 9, 9, 2, 10)))
by <- function(bs, col) {
  spec <- eval(parse(text = sprintf("s(x, bs = '%s', k = 5, by = %s)", bs, col)))
  lapply(smoothCon(spec, data = d, absorb.cons = FALSE), function(sm)
    list(bs = bs, by = col, label = sm$label, X = rows(sm$X), centred = nrow(sm$C) > 0))
}
out(list(meta = meta, x = d$x, z = d$z, two = d$two, g = as.character(d$g), h = as.numeric(as.character(d$h)),
         blocks = c(by("ps", "z"), by("ps", "two"), by("ps", "g"), by("ps", "h"), by("cr", "g"), by("cr", "z"))), "by.json")
