# Golden files of penalised additive models from mgcv.
#
#   Rscript testdata/golden/mgcv.R [OUTDIR]      (from the module root; make golden)
#
# Needs R with mgcv and jsonlite (Debian: r-cran-mgcv r-cran-jsonlite). The
# schema of what it writes is in README.md next to this file. Data are rounded to
# a few decimals before fitting, so that the JSON holds them exactly.
suppressPackageStartupMessages({ library(mgcv); library(jsonlite) })

args <- commandArgs(trailingOnly = TRUE)
if (length(args) > 1) stop("usage: Rscript mgcv.R [OUTDIR]")
out <- if (length(args) == 1) args[1] else "testdata/golden/mgcv"
dir.create(out, showWarnings = FALSE, recursive = TRUE)
seed <- 20230723
provenance <- list(R = R.version.string, mgcv = as.character(packageVersion("mgcv")),
                   seed = seed, script = "testdata/golden/mgcv.R")
cat(provenance$R, "; mgcv", provenance$mgcv, "; seed", seed, "\n")

# mgcv's defaults stop at 1e-6 or so of its optimum; these settings let it finish.
reml_control <- gam.control(epsilon = 1e-14, newton = list(conv.tol = 1e-11, maxNstep = 5,
                            maxSstep = 2, maxHalf = 50, use.svd = FALSE))
gcv_control <- gam.control(epsilon = 1e-14, mgcv.tol = 1e-13)

write_out <- function(x, name, zip = FALSE) {
  text <- toJSON(x, digits = I(17), auto_unbox = TRUE, null = "null", na = "null")
  path <- file.path(out, paste0(name, ".json"))
  if (zip) {
    # R's gzfile writes no time and no name, so equal content is equal bytes.
    con <- gzfile(paste0(path, ".gz"), "wb", compression = 9)
    writeLines(text, con); close(con)
  } else writeLines(text, path)
}

# --- data -------------------------------------------------------------------
set.seed(seed)
n <- 1000
X <- matrix(round(rnorm(n * 10), 5), n, 10)
truth <- list(
  function(x) cos(5 * x), function(x) tanh(3 * x), function(x) -x^3,
  function(x) -3 * x * cos(3 * x - 2), function(x) exp(0.5 * x) - 1, function(x) x^2,
  function(x) sin(x) * cos(x), function(x) sqrt(abs(x)), function(x) dnorm(x) - 1/8,
  function(x) -x * tanh(3 * x) * sin(4 * x))
ten <- as.data.frame(X); names(ten) <- paste0("x", 0:9)
f <- sapply(1:10, function(j) truth[[j]](X[, j]))
ten$y <- round(rowSums(f) + rnorm(n), 5)
ten$y2 <- round(2 * f[, 2] + f[, 6] - f[, 10] + rnorm(n, 0, 0.5), 5)
ten$w <- round(runif(n, 0.25, 2), 3)

m <- 200
small <- data.frame(x1 = round(runif(m), 4), x2 = round(rnorm(m), 4), z = round(rnorm(m), 4),
                    g = sample(c("a", "b", "c"), m, TRUE))
small$y <- with(small, round(sin(6 * x1) + 0.5 * x2^2 + 0.7 * z + (g == "b") - 0.5 * (g == "c") * x1
                             + rnorm(m, 0, 0.3), 4))
small$ylin <- with(small, round(1 + 2 * x1 + rnorm(m, 0, 0.3), 4))
# A linear truth is not always fitted as one: lambda goes to infinity only if the
# noise has no curvature to speak of. Take the quadratic and cubic part out.
small$ylin <- round(small$ylin - fitted(lm(ylin ~ poly(x1, 6), small)) + fitted(lm(ylin ~ x1, small)), 6)
small$w <- round(runif(m, 0.25, 2), 3)

frames <- list(ten = ten, small = small)
for (name in names(frames))
  write_out(list(provenance = provenance, rows = nrow(frames[[name]]),
                 columns = as.list(frames[[name]])), paste0("data_", name))
small$g <- factor(small$g); frames$small <- small

# --- one case ---------------------------------------------------------------
# pieces: "none", "rows" (the whole model matrix), "moments" (X'WX and so on).
run <- function(name, data, formula, method, weights = NULL, rows = 100, pieces = "none",
                gamma = 1, scale = 0, case_file = TRUE, predictor = "eta", matrix_of = NULL,
                select = FALSE, uncertainty = FALSE) {
  d <- frames[[data]]
  w <- if (is.null(weights)) rep(1, nrow(d)) else d[[weights]]
  d$.w <- w
  likelihood <- method %in% c("REML", "ML")
  control <- if (likelihood) reml_control else gcv_control
  fo <- as.formula(formula)
  t0 <- proc.time()[3]
  b <- if (is.null(weights)) gam(fo, data = d, method = method, control = control, gamma = gamma, scale = scale, select = select)
       else gam(fo, data = d, weights = .w, method = method, control = control, gamma = gamma, scale = scale, select = select)
  # The coefficients are those of the last (perhaps rejected) iterate, the sp those
  # of another: where the score is flat they differ by 1e-6. So the model is fitted
  # again at the sp; which were given and the Hessian are those of the first fit.
  chosen <- b
  full <- as.numeric(if (is.null(b$full.sp)) b$sp else b$full.sp)
  ids <- sapply(b$smooth, function(s) if (is.null(s$id)) "" else as.character(s$id))
  given <- if (any(ids != "")) as.numeric(b$sp) else full
  b <- if (is.null(weights)) gam(fo, data = d, method = method, control = control, gamma = gamma, scale = scale, select = select, sp = given)
       else gam(fo, data = d, weights = .w, method = method, control = control, gamma = gamma, scale = scale, select = select, sp = given)
  hess <- if (likelihood) chosen$outer.info$hess else NULL
  p <- predict(b, type = "terms", se.fit = TRUE)
  keep <- if (rows >= nrow(d)) seq_len(nrow(d)) else round(seq(1, nrow(d), length.out = rows))
  labels <- colnames(p$fit)
  smooths <- sapply(b$smooth, function(s) s$label)
  terms <- lapply(labels, function(l) {
    i <- match(l, smooths)
    v <- p$fit[, l]; se <- p$se.fit[, l]
    t <- list(name = gsub(" ", "", l), kind = if (is.na(i)) "parametric" else "smooth",
              mean = mean(v), weighted_mean = sum(w * v) / sum(w), values = as.numeric(v[keep]), se = as.numeric(se[keep]))
    if (!is.na(i)) {
      s <- b$smooth[[i]]; asked <- chosen$smooth[[i]]$sp
      t$edf <- sum(b$edf[s$first.para:s$last.para])
      t$columns <- s$last.para - s$first.para + 1
      t$sp <- I(as.numeric(full[s$first.sp:s$last.sp]))
      t$s_scale <- I(as.numeric(s$S.scale))
      t$fixed_sp <- !is.null(asked) && any(asked >= 0)
    } else {
      a <- b$assign[-1]; cols <- which(b$assign == match(l, attr(b$pterms, "term.labels")))
      t$edf <- sum(b$edf[cols]); t$columns <- length(cols)
    }
    t
  })
  case <- list(provenance = provenance, case = name, data = data, predictor = predictor,
    response = all.vars(fo)[1], formula = formula, weights = weights,
    method = if (likelihood) tolower(method) else "gcv", gamma = gamma, known_scale = scale,
    rows_total = nrow(d), score = as.numeric(b$gcv.ubre), scale = b$sig2,
    reml_scale = if (likelihood) b$reml.scale else NULL,
    edf_total = sum(b$edf), intercept = as.numeric(coef(b)[1]),
    sp = I(as.numeric(full)), hessian = hess,
    hessian_of = if (is.null(hess)) NULL else if (scale > 0) "log sp" else "log sp, log scale",
    rows = keep - 1, terms = terms)
  if (case_file) write_out(case, paste0("case_", name))
  if (pieces != "none") {
    G <- gam(fo, data = d, weights = .w, method = method, gamma = gamma, select = select, fit = FALSE)
    ranges <- lapply(chosen$smooth, function(s) list(name = s$label, start = s$first.para - 2,
                     dim = s$last.para - s$first.para + 1, S = lapply(s$S, function(S) unname(S)),
                     sp = I(if (is.null(s$sp)) rep(-1, length(s$S)) else as.numeric(s$sp)),
                     s_scale = I(as.numeric(s$S.scale))))
    for (i in which(ids != "")) {
      ranges[[i]]$link <- I(paste0(ids[i], ".", seq_along(ranges[[i]]$S)))
      ranges[[i]]$sp <- I(rep(-1, length(ranges[[i]]$S)))
    }
    x <- unname(G$X); attributes(x) <- list(dim = dim(x))
    piece <- list(provenance = provenance, case = case, smooths = ranges, parametric = G$nsdf - 1)
    if (uncertainty) {
      per <- function(e) as.numeric(sapply(chosen$smooth, function(s) sum(e[s$first.para:s$last.para])))
      piece$edf1 <- I(per(chosen$edf1)); piece$edf2 <- I(per(chosen$edf2))
      v <- chosen$Vc[-1, -1, drop = FALSE]
      piece$vc <- lapply(seq_len(nrow(v)), function(i) I(as.numeric(v[i, 1:i])))
    }
    y <- d[[all.vars(fo)[1]]]
    if (pieces == "rows") {
      # Cases with the same model matrix name the one that holds it.
      if (is.null(matrix_of)) { piece$X <- x; piece$y <- y } else piece$matrix_of <- matrix_of
      piece$w <- w
    } else {
      mx <- colSums(w * x)[-1] / sum(w); my <- sum(w * y) / sum(w)
      xc <- sweep(x[, -1], 2, mx); yc <- y - my
      xx <- crossprod(xc, w * xc)
      piece$moments <- list(rows = nrow(d), sum_w = sum(w), sum_log_w = sum(log(w)),
        xx = lapply(seq_len(nrow(xx)), function(i) xx[i, 1:i]), xz = as.numeric(crossprod(xc, w * yc)),
        zz = sum(w * yc^2), x_mean = mx)
      few <- keep[seq(1, length(keep), length.out = 5)]
      piece$X_rows <- few - 1; piece$X <- x[few, ]
      piece$case$terms <- NULL
      piece$term_values <- unname(p$fit[few, , drop = FALSE]); piece$term_se <- unname(p$se.fit[few, , drop = FALSE])
      piece$term_edf <- as.numeric(sapply(terms, function(t) t$edf))
    }
    write_out(piece, paste0("pieces_", name), zip = TRUE)
  }
  cat(sprintf("%-24s score %.10g  edf %.6g  scale %.6g  (%.1f s)\n", name, b$gcv.ubre, sum(b$edf), b$sig2,
              proc.time()[3] - t0))
}

# --- small cases ------------------------------------------------------------
two <- 'y ~ z + g + s(x1, k=10, bs="ps") + s(x2, k=8, bs="cr")'
run("small_reml", "small", two, "REML", pieces = "rows")
run("small_gcv_weighted", "small", two, "GCV.Cp", weights = "w", pieces = "rows", matrix_of = "small_reml")
run("small_sp_fixed", "small", 'y ~ z + s(x1, k=10, bs="ps", sp=0.5) + s(x2, k=8, bs="cr")', "REML",
    weights = "w", pieces = "rows")
run("small_linear_truth", "small", 'ylin ~ s(x1, k=10, bs="cr")', "REML", pieces = "rows")
run("small_by", "small", 'y ~ g + s(x1, k=8, bs="ps", by=g)', "REML", pieces = "rows")
# Not in the formula language yet, or options of the criterion: pieces only.
run("small_te", "small", 'y ~ te(x1, x2, k=5, bs="ps")', "REML", weights = "w", pieces = "rows", case_file = FALSE)
run("small_gamma", "small", two, "REML", gamma = 1.4, weights = "w", pieces = "rows", case_file = FALSE,
    matrix_of = "small_reml")
run("small_gcv_gamma", "small", two, "GCV.Cp", gamma = 1.4, pieces = "rows", case_file = FALSE,
    matrix_of = "small_reml")
run("small_known_scale", "small", two, "REML", scale = 0.1, weights = "w", pieces = "rows", case_file = FALSE,
    matrix_of = "small_reml")
run("small_ubre", "small", two, "GCV.Cp", scale = 0.1, pieces = "rows", case_file = FALSE,
    matrix_of = "small_reml")

# --- more penalties and criteria, pieces only -------------------------------
frames$small$u <- factor(rep_len(1:15, m))
extra <- function(name, formula, method = "REML", ...)
  run(name, "small", formula, method, pieces = "rows", case_file = FALSE, uncertainty = method != "GCV.Cp", rows = 20, ...)
extra("small_ml", two, "ML", matrix_of = "small_reml")
extra("small_ml_gamma", two, "ML", gamma = 1.4, weights = "w", matrix_of = "small_reml")
extra("small_ml_known_scale", two, "ML", scale = 0.1, weights = "w", matrix_of = "small_reml")
extra("small_vc", two, weights = "w", matrix_of = "small_reml")
extra("small_vc_known_scale", two, scale = 0.1, matrix_of = "small_reml")
random <- 'y ~ z + s(x1, k=8, bs="ps") + s(u, bs="re")'
extra("small_re", random)
extra("small_re_ml", random, "ML", weights = "w", matrix_of = "small_re")
both <- 'y ~ s(x1, k=10, bs="ps") + s(x2, k=8, bs="cr")'
extra("small_select", both, select = TRUE)
extra("small_select_ml", both, "ML", select = TRUE, matrix_of = "small_select")
extra("small_select_gcv", both, "GCV.Cp", select = TRUE, weights = "w", matrix_of = "small_select")
extra("small_te_cr", 'y ~ te(x1, x2, k=c(5,6))')
extra("small_te_ml", 'y ~ te(x1, x2, k=c(5,6))', "ML", weights = "w", matrix_of = "small_te_cr")
extra("small_te_gcv", 'y ~ te(x1, x2, k=c(5,6))', "GCV.Cp", matrix_of = "small_te_cr")
extra("small_te_three", 'y ~ te(x1, x2, z, k=c(4,3,3), bs="cr")')
extra("small_ti", 'y ~ s(x1, k=6, bs="cr") + s(x2, k=6, bs="cr") + ti(x1, x2, k=4, bs="cr")')
extra("small_fs", 'y ~ s(x1, g, bs="fs", k=5)')
extra("small_id", 'y ~ g + s(x1, k=8, bs="ps", by=g, id=1) + s(x2, k=6, bs="cr")')
extra("small_id_gcv", 'y ~ g + s(x1, k=8, bs="ps", by=g, id=1) + s(x2, k=6, bs="cr")', "GCV.Cp", matrix_of = "small_id")

# --- the paper's ten functions ----------------------------------------------
smooth <- function(j, k, bs) sprintf('s(x%d, k=%d, bs="%s")', j, k, bs)
model <- function(response, js, k, bs) paste(response, "~", paste(sapply(js, smooth, k, bs), collapse = " + "))
for (bs in c("cr", "ps")) for (weighted in c(FALSE, TRUE)) for (method in c("GCV.Cp", "REML")) {
  k <- if (bs == "ps") 20 else 10
  name <- paste0("ten_", bs, "_", if (method == "REML") "reml" else "gcv", if (weighted) "_weighted" else "")
  run(name, "ten", model("y", 0:9, k, bs), method, weights = if (weighted) "w" else NULL,
      pieces = if (name == "ten_ps_reml_weighted") "moments" else "none")
}
# Two predictors on the same rows with different smooth sets.
run("ten_two_mu", "ten", model("y", 0:4, 20, "ps"), "REML", predictor = "mu")
run("ten_two_nu", "ten", model("y2", c(1, 5, 9), 10, "cr"), "REML", predictor = "nu")
