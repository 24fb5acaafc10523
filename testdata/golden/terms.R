# Additive models of every kind of term at fixed smoothing parameters, fitted by
# mgcv, for package basis with package decompose.
#
#   Rscript testdata/golden/terms.R        (from the module root; needs mgcv, jsonlite)
#
# Writes testdata/golden/basis/terms.json.gz: for each case the term values (as
# predict(type = "terms") gives them), the edf by term, S.scale of each penalty and
# the sp of the fit. What can agree with anybody's computation is in agree: all, "no score",
# "columns" (edf and values depend on ties that rounding decides), or "rescaled" (sp
# are given on mgcv's scale of the penalty, which depends on rounding). Formulas of this project differ from mgcv's in two spellings:
# period= for knots=, and xt= as text.
suppressPackageStartupMessages({library(mgcv); library(jsonlite)})
set.seed(20232)
n <- 150
d <- data.frame(x = round(runif(n, 0, 10), 2), z = round(rnorm(n), 3), v = round(runif(n, -1, 1), 3),
                hour = round(runif(n, 0.3, 23.5), 1),
                g = factor(sample(c("a", "b", "c", "d"), n, TRUE)), h = factor(sample(c("p", "q", "r"), n, TRUE)))
d$y <- round(with(d, sin(x) + 0.3 * z^2 * v + cos(hour / 24 * 2 * pi) + as.numeric(g) * 0.3 * v + rnorm(n, 0, 0.4)), 4)
d$og <- ordered(d$g)
cases <- list()
add <- function(name, ours, formula, knots = NULL, select = FALSE, sp = NULL, reason = "", agree = "all") {
  fo <- as.formula(formula)
  setup <- suppressWarnings(gam(fo, data = d, knots = knots, select = select, fit = FALSE))
  np <- length(setup$sp)
  if (is.null(sp)) sp <- if (np > 0) round(exp(seq(-2, 2, length = np)) * 0.3, 4) else NULL
  b <- suppressWarnings(gam(fo, data = d, knots = knots, select = select, sp = sp, method = "REML"))
  p <- suppressWarnings(predict(b, type = "terms"))
  smooths <- lapply(b$smooth, function(s) list(name = gsub(" ", "", s$label), edf = sum(b$edf[s$first.para:s$last.para]),
    columns = s$last.para - s$first.para + 1, scale = I(as.numeric(s$S.scale)),
    sp = if (length(s$S) > 0) I(as.numeric(b$full.sp %||% b$sp)[s$first.sp:s$last.sp]) else I(numeric(0)),
    knots = if (is.null(s$xp) && is.null(s$knots)) NULL else I(as.numeric(if (is.null(s$xp)) s$knots else s$xp))))
  cases[[length(cases) + 1]] <<- list(name = name, formula = ours, mgcv = formula, select = select, reason = reason, agree = agree,
    edf = sum(b$edf), score = as.numeric(b$gcv.ubre), intercept = as.numeric(coef(b)[1]), fitted = as.numeric(fitted(b)),
    labels = I(gsub(" ", "", colnames(p))), values = unname(split(unname(p), col(p))), smooths = smooths)
}
`%||%` <- function(a, b) if (is.null(a)) b else a
same <- function(name, f, ...) add(name, f, f, ...)
hours <- list(hour = c(0, 24))
same("cc", 'y ~ s(hour, bs = "cc", k = 8)')
add("cc_period", 'y ~ s(hour, bs = "cc", k = 8, period = c(0, 24))', 'y ~ s(hour, bs = "cc", k = 8)', hours)
same("cp", 'y ~ s(hour, bs = "cp", k = 9)')
add("cp_period", 'y ~ s(hour, bs = "cp", k = 9, m = c(1, 1), period = c(0, 24))', 'y ~ s(hour, bs = "cp", k = 9, m = c(1, 1))', hours)
same("cp_m23", 'y ~ s(hour, bs = "cp", k = 9, m = c(2, 3))')
same("bs", 'y ~ s(x, bs = "bs")')
same("bs_m31", 'y ~ s(x, bs = "bs", k = 12, m = c(3, 1))')
same("bs_m2", 'y ~ s(x, bs = "bs", k = 12, m = 2)')
same("bs_several", 'y ~ s(x, bs = "bs", k = 12, m = c(3, 2, 0))')
same("bs_m33", 'y ~ s(x, bs = "bs", k = 12, m = c(3, 3))')
same("re", 'y ~ s(g, bs = "re")')
same("re_slope", 'y ~ s(g, v, bs = "re") + s(g, bs = "re")')
same("re_product", 'y ~ s(g, h, bs = "re")')
same("re_number", 'y ~ s(v, bs = "re")')
same("re_by", 'y ~ s(g, bs = "re", by = v)')
same("pc", 'y ~ s(x, bs = "cr", pc = 3)')
same("pc_ps", 'y ~ s(x, bs = "ps", pc = 0) + s(z, bs = "cr", k = 6)')
same("pc_by", 'y ~ s(x, bs = "cr", k = 6, by = v, pc = 3) + s(x, bs = "ps", k = 6, by = g, pc = 2)')
add("id_by", 'y ~ s(x, bs = "cr", k = 6, by = g, id = 1, sp = 0.4)', 'y ~ s(x, bs = "cr", k = 6, by = g, id = 1)', sp = 0.4)
add("ordered", 'y ~ s(x, bs = "cr", k = 6) + s(x, bs = "cr", k = 6, by = ordered(g))', 'y ~ s(x, bs = "cr", k = 6) + s(x, bs = "cr", k = 6, by = og)')
same("select", 'y ~ s(x, bs = "cr", k = 8) + s(z, bs = "ps", k = 8)', select = TRUE)
same("select_te", 'y ~ te(x, z)', select = TRUE)
same("te", 'y ~ te(x, z)')
same("te_ps", 'y ~ te(x, z, bs = "ps", k = c(5, 6))')
same("te_np", 'y ~ te(x, z, bs = "ps", k = 6, np = FALSE)')
same("te_mixed", 'y ~ te(x, z, bs = c("ps", "cr"), k = c(7, 4), m = 1)')
same("te_tp", 'y ~ te(x, z, bs = "tp", k = 4)')
same("te_three", 'y ~ te(x, z, v, k = 3)')
add("te_cc", 'y ~ te(hour, x, bs = c("cc", "cr"), k = c(6, 4), period = c(0, 24))', 'y ~ te(hour, x, bs = c("cc", "cr"), k = c(6, 4))', hours)
same("te_cp", 'y ~ te(hour, x, bs = c("cp", "ps"), k = c(6, 5))')
same("te_d", 'y ~ te(x, z, v, d = c(2, 1), bs = c("tp", "cr"), k = c(8, 4))')
same("te_by", 'y ~ te(x, z, by = v)')
same("te_by_factor", 'y ~ te(x, z, by = h, k = 4, bs = "ps")')
same("te_re", 'y ~ te(x, g, bs = c("cr", "re"), k = c(5, 4))')
same("ti", 'y ~ ti(x, z)')
same("ti_ps", 'y ~ ti(x, z, bs = "ps", k = c(5, 6))')
same("ti_mains", 'y ~ ti(x, k = 6, bs = "cr") + ti(z, k = 6, bs = "cr") + ti(x, z, k = 4)', reason = "ti of one column is s")
same("ti_mc", 'y ~ ti(x, z, bs = c("ps", "cr"), mc = c(TRUE, FALSE))')
same("ti_three", 'y ~ ti(x, z, v, k = 3)')
same("ti_tp", 'y ~ ti(x, z, bs = "tp", k = 5)')
same("ti_by", 'y ~ ti(x, z, by = h, k = 4)')
same("nested", 'y ~ s(x, bs = "cr") + s(z, bs = "cr") + te(x, z)')
same("nested_ps", 'y ~ s(x, bs = "ps", k = 6) + te(x, z, bs = "ps", k = c(6, 5))', agree = "columns", reason = "which of two columns of equal length goes is up to rounding")
same("nested_same", 'y ~ s(x, bs = "cr", k = 5) + s(z, bs = "cr", k = 5) + te(x, z, k = 5)', reason = "the margins are the mains: k - 1 columns of each go")
same("nested_three", 'y ~ s(x, bs = "cr", k = 4) + te(x, z, k = 4) + te(x, z, v, k = c(4, 4, 3))')
same("nested_by", 'y ~ s(x, bs = "cr", k = 5, by = v) + te(x, z, by = v, k = 5)', agree = "columns", reason = "as nested_ps")
same("product_full", 'y ~ g:h')
same("product_mains", 'y ~ g + h + g:h')
same("product_one", 'y ~ g + g:h')
same("slopes", 'y ~ g + g:v')
same("slopes_main", 'y ~ v + v:g')
same("number_number", 'y ~ z:v + z + v')
same("three", 'y ~ g + h + v + g:h + g:v + h:v + g:h:v')
add("fs", 'y ~ s(x, g, bs = "fs", xt = "cr", k = 6)', 'y ~ s(x, g, bs = "fs", xt = "cr", k = 6)', sp = c(0.5, 0.2, 0.2), agree = "rescaled",
    reason = "mgcv's basis of the null space is a matter of rounding: only with equal sp there is the model determined")
add("fs_ps", 'y ~ s(x, g, bs = "fs", xt = "ps", k = 7)', 'y ~ s(x, g, bs = "fs", xt = "ps", k = 7)', sp = c(0.5, 0.2, 0.2), agree = "rescaled", reason = "as fs")
add("fs_tp", 'y ~ s(x, g, bs = "fs", k = 6)', 'y ~ s(x, g, bs = "fs", k = 6)', sp = c(0.5, 0.2, 0.2), agree = "rescaled", reason = "as fs")

same("cs_only", 'y ~ s(x, bs = "cs", k = 8)', sp = 1e-8, agree = "no score", reason = "mgcv's shrinkage of the null space is a matter of rounding: only a weak penalty can agree")
meta <- list(generator = "testdata/golden/terms.R", R = R.version.string, mgcv = as.character(packageVersion("mgcv")), seed = 20232)
out <- toJSON(list(meta = meta, data = list(x = d$x, z = d$z, v = d$v, hour = d$hour, y = d$y, g = as.character(d$g), h = as.character(d$h)), cases = cases),
              digits = I(15), auto_unbox = TRUE, null = "null")
con <- gzfile("testdata/golden/basis/terms.json.gz", "wb", compression = 9); writeLines(out, con); close(con)
cat(length(cases), "cases\n")
