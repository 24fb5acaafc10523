# Additive models of every kind of term, each on 200 and on 2000 rows and by REML,
# ML and GCV, as mgcv fits them: for decompose/formulas_test.go and docs/mgcv.md.
#
#   Rscript testdata/golden/formulas.R     (from the module root; needs mgcv, jsonlite)
#
# Writes testdata/golden/formulas.json.gz (schema: README.md). Seeded; two processes
# share the work, which changes nothing in the result. Formulas of this project
# differ from mgcv's in three spellings: period= for knots=, ordered(g) for an
# ordered copy of g, and xt= as text.
suppressPackageStartupMessages({library(mgcv); library(jsonlite); library(parallel)})
seed <- 20234
set.seed(seed)

frame <- function(n) {
  d <- data.frame(x = round(runif(n, 0, 10), 3), z = round(rnorm(n), 4), v = round(runif(n, -1, 1), 4),
                  lon = round(rbeta(n, 1.3, 2) * 4, 4), lat = round(runif(n), 4),
                  hour = round(runif(n, 0.1, 23.9), 2),
                  g = factor(sample(c("a", "b", "c", "d"), n, TRUE)), h = factor(sample(c("p", "q", "r"), n, TRUE)),
                  u = factor(sprintf("u%02d", sample(1:12, n, TRUE))))
  d$w <- round(runif(n, 0.25, 2), 3)
  level <- rnorm(12, 0, 0.4); slope <- rnorm(12, 0, 0.3)
  d$y <- round(with(d, sin(x) + 0.3 * z^2 * v + cos(hour / 24 * 2 * pi) + as.numeric(g) * 0.3 * sin(x / 2 + as.numeric(g)) +
    0.4 * (h == "q") * (g == "b") + cos(2 * lon) * lat + level[as.integer(u)] + slope[as.integer(u)] * v + rnorm(n, 0, 0.5)), 4)
  d$og <- ordered(d$g)
  d
}
frames <- list(`200` = frame(200), `2000` = frame(2000))

formulas <- list()
add <- function(name, ours, formula = ours, knots = NULL, select = FALSE, weights = NULL)
  formulas[[length(formulas) + 1]] <<- list(name = name, ours = ours, mgcv = formula, knots = knots, select = select, weights = weights)
day <- list(hour = c(0, 24))
add("tp", 'y ~ s(x) + s(z)')
add("tp_plane", 'y ~ s(lon, lat) + g')
add("tp_space", 'y ~ s(x, z, v, k = 40)')
add("tp_orders", 'y ~ s(x, k = 15, m = 3) + s(z, k = 8, m = 1)', weights = "w")
add("ts", 'y ~ s(x, bs = "ts") + s(v, bs = "ts", k = 8) + s(lon, lat, bs = "ts", k = 20)')
add("cr", 'y ~ s(x, bs = "cr") + s(z, bs = "cr", k = 15)', weights = "w")
add("cs", 'y ~ s(x, bs = "cs", k = 8) + s(z, bs = "cr")')
add("cc", 'y ~ s(hour, bs = "cc", k = 12, period = c(0, 24)) + s(x, bs = "cr")', 'y ~ s(hour, bs = "cc", k = 12) + s(x, bs = "cr")', day)
add("cp", 'y ~ s(hour, bs = "cp", k = 10, m = c(2, 1), period = c(0, 24)) + g', 'y ~ s(hour, bs = "cp", k = 10, m = c(2, 1)) + g', day, weights = "w")
add("ps", 'y ~ s(x, bs = "ps", k = 20) + s(z, bs = "ps", m = c(2, 1)) + s(v, bs = "ps", m = c(1, 2), k = 8)', weights = "w")
add("bs", 'y ~ s(x, bs = "bs", k = 15, m = c(3, 2)) + s(z, bs = "bs", k = 12, m = c(3, 2, 0))')
add("by_number", 'y ~ s(x, bs = "cr", by = v) + s(z, bs = "ps")', weights = "w")
add("by_factor", 'y ~ g + s(x, bs = "cr", k = 8, by = g) + s(z, bs = "tp", k = 8)')
add("by_ordered", 'y ~ g + s(x, bs = "cr", k = 8) + s(x, bs = "cr", k = 8, by = ordered(g))', 'y ~ g + s(x, bs = "cr", k = 8) + s(x, bs = "cr", k = 8, by = og)')
add("id", 'y ~ g + s(x, bs = "ps", k = 10, by = g, id = 1) + s(z, bs = "cr", k = 6)', weights = "w")
add("pc", 'y ~ s(x, bs = "cr", pc = 3) + s(z, bs = "ps", k = 8)')
add("sp_fx", 'y ~ s(x, bs = "cr", sp = 0.5) + s(z, bs = "ps", k = 8) + s(v, bs = "cr", k = 5, fx = TRUE)')
add("select", 'y ~ s(x, bs = "cr") + s(z, bs = "ps", k = 12) + s(v, k = 8)', select = TRUE)
add("te", 'y ~ te(lon, lat) + s(x, bs = "cr")')
add("te_cyclic", 'y ~ te(hour, x, bs = c("cc", "ps"), k = c(8, 6), period = c(0, 24)) + g', 'y ~ te(hour, x, bs = c("cc", "ps"), k = c(8, 6)) + g', day, weights = "w")
add("te_plane", 'y ~ te(lon, lat, x, d = c(2, 1), bs = c("tp", "cr"), k = c(10, 5))')
add("ti", 'y ~ ti(x, k = 8, bs = "cr") + ti(z, k = 6, bs = "cr") + ti(x, z, k = c(5, 4), bs = c("ps", "cr"))')
add("nested", 'y ~ s(x, bs = "cr") + s(z, bs = "cr") + te(x, z)')
add("factors", 'y ~ g + h + g:h + g:v + s(x, bs = "cr")')
add("re", 'y ~ v + s(u, bs = "re") + s(u, v, bs = "re") + s(x, bs = "cr")', weights = "w")
add("fs_m1", 'y ~ s(x, g, bs = "fs", k = 8, m = 1) + s(z, bs = "cr", k = 6)')
add("fs", 'y ~ s(x, g, bs = "fs", k = 6) + s(z, bs = "cr", k = 6)')

# mgcv's defaults stop some digits short of its own optimum.
reml_control <- gam.control(epsilon = 1e-14, newton = list(conv.tol = 1e-11, maxNstep = 5,
                            maxSstep = 2, maxHalf = 50, use.svd = FALSE))
gcv_control <- gam.control(epsilon = 1e-14, mgcv.tol = 1e-13)

fit <- function(f, n, method) {
  d <- frames[[n]]
  d$.w <- if (is.null(f$weights)) 1 else d[[f$weights]]
  likelihood <- method != "GCV.Cp"
  run <- function(sp = NULL, fit = TRUE) suppressWarnings(gam(as.formula(f$mgcv), data = d, weights = .w, method = method, knots = f$knots,
    select = f$select, sp = sp, fit = fit, control = if (likelihood) reml_control else gcv_control))
  chosen <- run()
  setup <- run(fit = FALSE)
  full <- as.numeric(if (is.null(chosen$full.sp)) chosen$sp else chosen$full.sp)
  linked <- any(sapply(chosen$smooth, function(s) !is.null(s$id)))
  given <- if (linked) as.numeric(chosen$sp) else full
  # Where sp is 1e11 or so, mgcv's solver for GCV (magic) loses digits or directions:
  # the score it reports, and chose by, is not that of the penalised fit. What it is at
  # the chosen sp is known from mgcv's other solver; values are compared at 1e7 at most.
  chosen_score <- as.numeric(chosen$gcv.ubre)
  lost <- FALSE
  if (!likelihood) {
    r <- suppressWarnings(gam(as.formula(f$mgcv), data = d, weights = .w, method = "REML", knots = f$knots, select = f$select, sp = given))
    stable <- nrow(d) * sum(d$.w * (d$y - fitted(r))^2) / (nrow(d) - sum(r$edf))^2
    lost <- abs(stable / chosen_score - 1) > 1e-9
    if (lost) chosen_score <- stable
  }
  chosen_sp <- full
  if (!likelihood) { full <- pmin(full, 1e7); given <- pmin(given, 1e7) }
  # The coefficients are the last iterate's, the sp may be another's: fit again.
  b <- run(given)
  # Second derivatives of the score (n/2 log GCV) in the log of each sp, the scale
  # profiled out; null for those given.
  L <- if (is.null(setup$L)) diag(length(full)) else setup$L
  if (likelihood) {
    H <- chosen$outer.info$hess; k <- ncol(L)
    if (nrow(H) > k) H <- H[1:k, 1:k, drop = FALSE] - tcrossprod(H[1:k, k + 1]) / H[k + 1, k + 1]
    curvature <- apply(L, 1, function(l) if (any(l != 0)) diag(H)[which(l != 0)[1]] else NA)
  } else {
    half <- function(sp) nrow(d) / 2 * log(as.numeric(run(sp)$gcv.ubre))
    bend <- function(j, h = 0.02) {
      e <- replace(numeric(length(given)), j, h)
      (half(given * exp(e)) - 2 * half(given) + half(given * exp(-e))) / h^2
    }
    curvature <- if (linked) { each <- sapply(seq_along(given), bend); apply(L, 1, function(l) each[which(l != 0)[1]]) }
                 else sapply(seq_along(full), function(j) if (any(L[j, ] != 0)) bend(j) else NA)
  }
  X <- predict(b, type = "lpmatrix")
  keep <- round(seq(1, nrow(d), length.out = 60))
  term <- function(label, cols, s = NULL) {
    x <- X[, cols, drop = FALSE]
    x <- sweep(x[keep, , drop = FALSE], 2, colSums(d$.w * x) / sum(d$.w)) # weighted mean zero
    sp <- if (length(s$S) > 0) s$first.sp:s$last.sp
    list(name = gsub(":og", ":g", gsub(" ", "", label)), columns = length(cols), edf = sum(b$edf[cols]),
         values = as.numeric(x %*% coef(b)[cols]), se = sqrt(rowSums((x %*% b$Vp[cols, cols]) * x)),
         sp = I(full[sp]), chosen_sp = I(chosen_sp[sp]), curvature = I(curvature[sp]), s_scale = I(as.numeric(s$S.scale)))
  }
  labels <- attr(b$pterms, "term.labels")
  terms <- c(lapply(seq_along(labels), function(i) term(labels[i], which(b$assign == i))),
             lapply(b$smooth, function(s) term(s$label, s$first.para:s$last.para, s)))
  list(name = f$name, rows = as.integer(n), method = switch(method, REML = "reml", ML = "ml", "gcv"),
       score = as.numeric(b$gcv.ubre), chosen_score = chosen_score, lost = lost, scale = b$sig2, edf = sum(b$edf), terms = terms)
}
tasks <- expand.grid(method = c("REML", "ML", "GCV.Cp"), n = names(frames), f = seq_along(formulas), stringsAsFactors = FALSE)
cases <- mclapply(seq_len(nrow(tasks)), function(i) {
  t0 <- proc.time()[3]
  c <- try(fit(formulas[[tasks$f[i]]], tasks$n[i], tasks$method[i]))
  message(sprintf("%-12s %4s %-6s %6.1f s", formulas[[tasks$f[i]]]$name, tasks$n[i], tasks$method[i], proc.time()[3] - t0))
  c
}, mc.cores = 2, mc.preschedule = FALSE)
failed <- sapply(cases, inherits, "try-error")
if (any(failed)) stop(cases[[which(failed)[1]]])

columns <- function(d) lapply(d[names(d) != "og"], function(v) if (is.factor(v)) as.character(v) else v)
out <- list(provenance = list(R = R.version.string, mgcv = as.character(packageVersion("mgcv")), seed = seed, script = "testdata/golden/formulas.R"),
            data = lapply(frames, columns), at = lapply(frames, function(d) round(seq(1, nrow(d), length.out = 60)) - 1),
            formulas = lapply(formulas, function(f) list(name = f$name, formula = f$ours, mgcv = f$mgcv, select = f$select, weights = f$weights)),
            cases = cases)
# gzfile writes no time and no name, so equal content is equal bytes.
con <- gzfile("testdata/golden/formulas.json.gz", "wb", compression = 9)
writeLines(toJSON(out, digits = I(15), auto_unbox = TRUE, null = "null", na = "null"), con); close(con)
cat(length(formulas), "formulas,", length(cases), "cases\n")
