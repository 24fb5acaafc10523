# Robust standard errors of R's airquality, by matrices: HC3, clusters, weights, and the
# smoothing bias of a penalised smooth. For decompose/golden_sandwich_test.go.
#
#   Rscript testdata/golden/sandwich.R     (from the module root; needs mgcv, jsonlite)
#
# Writes testdata/golden/sandwich.json (schema: README.md). Nothing is random.
suppressPackageStartupMessages({library(mgcv); library(jsonlite)})
d <- na.omit(datasets::airquality)
d$w <- round(d$Temp / 70, 3); d$w[c(3, 50)] <- 0
d$month <- paste0("m", d$Month)
# V for columns X (intercept first), penalty S, weights w and residuals r: as in
# MacKinnon and White (1985) or, with clusters, Liang and Zeger (1986).
robust <- function(X, S, w, r, n, cluster = NULL) {
  H <- crossprod(X, w * X); A <- solve(H + S)
  h <- w * rowSums((X %*% A) * X)
  edf <- sum(diag(A %*% H)); phi <- sum(w * r^2) / (n - edf)
  if (is.null(cluster)) {
    middle <- crossprod(X * (w * r / (1 - h)))
  } else {
    u <- rowsum((w * r * X)[w > 0, ], cluster[w > 0])
    middle <- crossprod(u) * nrow(u) / (nrow(u) - 1)
  }
  list(V = A %*% middle %*% A + phi * (A - A %*% H %*% A), phi = phi, edf = edf)
}
# Standard errors of a term's contributions, centred over the rows' weights.
se <- function(V, X, cols, w) {
  L <- matrix(0, nrow(X), ncol(X))
  L[, cols] <- sweep(X[, cols, drop = FALSE], 2, colSums(w * X[, cols, drop = FALSE]) / sum(w))
  sqrt(pmax(rowSums((L %*% V) * L), 0))
}
cases <- list()
for (weighted in c(FALSE, TRUE)) for (cluster in c("", "month", "Day")) for (smooth in c(FALSE, TRUE)) {
  w <- d$used <- if (weighted) d$w else rep(1, nrow(d))
  g <- if (cluster == "") NULL else d[[cluster]]
  if (smooth) {
    b <- gam(Ozone ~ Solar.R + s(Temp, bs = "cr", k = 8) + month, data = d, weights = used, sp = 2.5)
    X <- predict(b, type = "lpmatrix"); s <- b$smooth[[1]]; at <- s$first.para:s$last.para
    S <- matrix(0, ncol(X), ncol(X)); S[at, at] <- 2.5 * s$S[[1]]
    terms <- list(Solar.R = 2, month = 3:6, "s(Temp)" = at)
    # The outcome at the sp, without the iteration's rounding.
    beta <- solve(crossprod(X, w * X) + S, crossprod(X, w * d$Ozone)); r <- d$Ozone - drop(X %*% beta)
    formula <- 'Ozone ~ Solar.R + month + s(Temp, bs="cr", k=8)'
  } else {
    b <- lm(Ozone ~ Solar.R + Wind + Temp + month, data = d, weights = used)
    X <- model.matrix(b); S <- matrix(0, ncol(X), ncol(X)); r <- d$Ozone - drop(X %*% coef(b))
    terms <- list(Solar.R = 2, Wind = 3, Temp = 4, month = 5:8)
    formula <- "Ozone ~ Solar.R + Wind + Temp + month"
    if (!weighted) stopifnot(max(abs(hatvalues(b) - rowSums((X %*% solve(crossprod(X))) * X))) < 1e-10)
  }
  V <- robust(X, S, w, r, sum(w > 0), g)
  cases[[length(cases) + 1]] <- list(formula = formula, weights = if (weighted) "w" else "", cluster = cluster,
    sp = if (smooth) 2.5 else 0, scale = V$phi, edf = V$edf,
    se = lapply(terms, function(cols) se(V$V, X, cols, w)))
}
write(toJSON(list(provenance = list(R = as.character(getRversion()), mgcv = as.character(packageVersion("mgcv")), data = "datasets::airquality", script = "testdata/golden/sandwich.R"),
  columns = as.list(d[c("Ozone", "Solar.R", "Wind", "Temp", "Day", "month", "w")]), cases = cases), digits = 15, auto_unbox = TRUE), "testdata/golden/sandwich.json")
