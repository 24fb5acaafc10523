# Hierarchical terms (Hooker 2007) of additive models by brute force, beside mgcv's own
# terms: for decompose/hierarchy_test.go.
#
#   Rscript testdata/golden/hierarchy.R     (from the module root; needs mgcv, jsonlite)
#
# Reads the data of formulas.json.gz and writes hierarchy.json (schema: README.md). Every
# model is fitted at given smoothing parameters. Its function is then split by one joint
# least squares problem on all rows: each term's columns have what their margins span
# taken out by weighted regression, and the coefficients of all of them come from one
# singular value decomposition. Nothing of this is how the package computes it.
suppressPackageStartupMessages({library(mgcv); library(jsonlite)})
golden <- fromJSON(gzfile("testdata/golden/formulas.json.gz"))
frame <- function(n) {
  d <- as.data.frame(golden$data[[as.character(n)]], stringsAsFactors = TRUE)
  d$one <- 1
  d
}
span <- function(X, w) { # an orthonormal basis of the columns of sqrt(w) X
  s <- svd(X * sqrt(w))
  s$u[, s$d > 1e-6 * s$d[1], drop = FALSE]
}
# terms: list(name, columns (n x d), fitted function (n), margins (names))
# X, V: columns whose combination the function is, and their coefficients' covariance.
hooker <- function(terms, w, X, V) {
  one <- sqrt(w) / sqrt(sum(w))
  f <- Reduce(`+`, lapply(terms, function(t) t$f)) * sqrt(w)
  f <- f - one * sum(one * f)
  Q <- lapply(terms, function(t) {
    M <- cbind(one, do.call(cbind, lapply(t$margins, function(m) terms[[m]]$X * sqrt(w))))
    U <- svd(scale(M, FALSE, pmax(sqrt(colSums(M^2)), 1e-300)))
    U <- U$u[, U$d > 1e-8 * U$d[1], drop = FALSE]
    X <- t$X * sqrt(w)
    X <- X - one %*% crossprod(one, X)
    X <- scale(X, FALSE, pmax(sqrt(colSums(X^2)), 1e-300))
    own <- X - U %*% crossprod(U, X)
    s <- svd(own)
    list(all = s$u[, s$d > 1e-7 * max(s$d[1], 1e-3), drop = FALSE], told = s$u[, s$d > 1e-4 * max(s$d[1], 1e-3), drop = FALSE])
  })
  # how unique they are, by directions that products of columns tell from rounding
  told <- svd(do.call(cbind, lapply(Q, function(q) q$told)))$d^2
  Q <- lapply(Q, function(q) q$all)
  r <- sapply(Q, ncol)
  J <- do.call(cbind, Q)
  s <- svd(J)
  keep <- s$d^2 > 1e-7
  c <- s$v[, keep] %*% (crossprod(s$u[, keep], f) / s$d[keep])
  at <- split(seq_along(c), rep(seq_along(r), r))
  g <- list(); se <- list()
  X <- X * sqrt(w); X <- X - one %*% crossprod(one, X)
  C <- s$v[, keep] %*% (crossprod(s$u[, keep], X) / s$d[keep]) # the same of each column
  for (i in seq_along(Q)) {
    g[[i]] <- as.vector(Q[[i]] %*% c[at[[as.character(i)]]]) / sqrt(w)
    G <- Q[[i]] %*% C[at[[as.character(i)]], , drop = FALSE] / sqrt(w)
    se[[i]] <- sqrt(pmax(rowSums((G %*% V) * G), 0))
  }
  left <- max(abs(Reduce(`+`, g) * sqrt(w) - f)) / max(abs(f)); if (left > 1e-9) stop("the terms miss the function by ", left, ", rank ", sum(keep), " of ", sum(r), " ", paste(r, collapse = " "))
  list(g = g, se = se, rank = sum(told > 1e-7), of = length(told), smallest = if (min(told) > 1e-7) min(told) else 0)
}
out <- list()
add <- function(name, ours, n, margins, sp = NULL, mgcv = ours, weights = NULL, subset = NULL, sps = NULL, cells = list()) {
  d <- frame(n)
  if (!is.null(subset)) d <- droplevels(d[eval(subset, d), ])
  w <- if (is.null(weights)) d$one else d[[weights]]
  d$wts <- w
  m <- gam(as.formula(mgcv), data = d, weights = wts, sp = sp, control = gam.control(epsilon = 1e-14))
  X <- predict(m, type = "lpmatrix"); b <- coef(m); b[is.na(b)] <- 0
  own <- predict(m, type = "terms"); colnames(own) <- gsub(" ", "", colnames(own))
  terms <- list()
  for (l in names(margins)) {
    smooth <- which(vapply(m$smooth, function(s) gsub(" ", "", s$label) == l, NA))
    if (length(smooth)) {
      s <- m$smooth[[smooth]]; cols <- s$first.para:s$last.para
      XX <- X[, cols, drop = FALSE]; f <- XX %*% b[cols]
      # all functions of the basis, not those alone that mgcv's side conditions left
      full <- s; full$qrc <- NULL; attr(full, "nCons") <- 0; attr(full, "qrc") <- NULL; attr(full, "del.index") <- NULL
      if (!grepl("^ti", l)) XX <- PredictMat(full, d)
    } else { # a column for each level or combination, whatever the contrasts
      vars <- strsplit(l, ":")[[1]]
      facs <- vars[sapply(vars, function(v) is.factor(d[[v]]))]; nums <- setdiff(vars, facs)
      num <- if (length(nums)) Reduce(`*`, d[nums]) else d$one
      XX <- if (length(facs)) model.matrix(~ i - 1, data.frame(i = droplevels(interaction(d[facs])))) * num else cbind(num)
      f <- own[, l]
    }
    terms[[l]] <- list(X = XX, f = as.vector(f), margins = margins[[l]])
  }
  h <- hooker(terms, w, X, m$Vp)
  eta <- fitted(m)
  at <- unique(round(seq(1, nrow(d), length.out = 40)))
  centre <- function(v) v - weighted.mean(v, w)
  cov <- function(a, b) weighted.mean(centre(a) * centre(b), w)
  y <- d$y
  out[[length(out) + 1]] <<- list(name = unbox(name), formula = unbox(ours), rows = unbox(n), weights = unbox(if (is.null(weights)) "" else weights),
    keep = if (is.null(subset)) list() else which(eval(subset, frame(n))) - 1, sp = if (is.null(sps)) setNames(list(), character()) else sps,
    rank = unbox(h$rank), of = unbox(h$of), smallest = unbox(h$smallest), at = at - 1,
    terms = lapply(seq_along(terms), function(i) list(name = unbox(names(terms)[i]), fitted = signif(centre(terms[[i]]$f)[at], 13),
      hierarchical = signif(centre(h$g[[i]])[at], 13), se = signif(h$se[[i]][at], 13), variance = unbox(cov(h$g[[i]], h$g[[i]])), share = unbox(cov(h$g[[i]], y) / cov(y, y)))))
}
X <- list
add("te", "y ~ s(x, bs = \"cr\") + s(z, bs = \"cr\") + te(x, z)", 2000,
    list("s(x)" = NULL, "s(z)" = NULL, "te(x,z)" = c("s(x)", "s(z)")), sp = c(0.5, 0.2, 0.01, 0.02),
    sps = list("s(x)" = 0.5, "s(z)" = 0.2, "te(x,z)" = c(0.01, 0.02)),
    subset = quote((x > median(x)) == (z > median(z)) | seq_along(x) %% 2 == 0)) # of independent columns the package smooths the split
add("ti", "y ~ s(x, bs = \"cr\") + s(z, bs = \"cr\") + ti(x, z, k = c(5, 4))", 200,
    list("s(x)" = NULL, "s(z)" = NULL, "ti(x,z)" = c("s(x)", "s(z)")), weights = "w", sp = c(0.5, 0.2, 0.1, 0.2),
    sps = list("s(x)" = 0.5, "s(z)" = 0.2, "ti(x,z)" = c(0.1, 0.2)),
    subset = quote((x > median(x)) == (z > median(z))))
add("factors", "y ~ g + h + g:h", 2000, list(g = NULL, h = NULL, "g:h" = c("g", "h")), weights = "w")
add("empty", "y ~ g + u + g:u", 200, list(g = NULL, u = NULL, "g:u" = c("g", "u")), weights = "w")
add("disconnected", "y ~ g + h + g:h", 2000, list(g = NULL, h = NULL, "g:h" = c("g", "h")), weights = "w",
    subset = quote((g %in% c("a", "b")) == (h == "p")))
add("numbers", "y ~ x + v + x:v", 200, list(x = NULL, v = NULL, "x:v" = c("x", "v")), weights = "w")
add("slopes", "y ~ g + x + g:x", 2000, list(g = NULL, x = NULL, "g:x" = c("g", "x")), weights = "w")
add("three", "y ~ g + h + x + g:h + g:x + h:x + g:h:x", 2000, list(g = NULL, h = NULL, x = NULL, "g:h" = c("g", "h"), "g:x" = c("g", "x"),
    "h:x" = c("h", "x"), "g:h:x" = c("g", "h", "x", "g:h", "g:x", "h:x")), weights = "w")
add("fs", "y ~ s(x, bs = \"cr\") + s(x, g, bs = \"fs\", k = 8, m = 1)", 2000, list("s(x)" = NULL, "s(x,g)" = "s(x)"),
    sp = c(0.5, 0.3, 2), sps = list("s(x)" = 0.5, "s(x,g)" = c(0.3, 2)))
add("by", "y ~ h + s(x, bs = \"cr\", k = 6, by = h)", 2000, list(h = NULL, "s(x):hp" = "h", "s(x):hq" = "h", "s(x):hr" = "h"),
    sp = c(0.5, 0.3, 2), weights = "w", sps = list("s(x):hp" = 0.5, "s(x):hq" = 0.3, "s(x):hr" = 2))
writeLines(toJSON(list(provenance = list(R = unbox(R.version.string), mgcv = unbox(as.character(packageVersion("mgcv"))), script = unbox("hierarchy.R")),
  cases = out), digits = NA, null = "list"), "testdata/golden/hierarchy.json")
