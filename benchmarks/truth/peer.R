# Rscript peer.R JOB.json: mgcv on predictions. The job names a file of rows (with a column eta), a formula for each
# setting, and where the answer goes. Of each setting the answer has the seconds and each column's curve at the rows; with
# `at`, a file of points of every column, its value, standard error and the factor of its simultaneous band there.
suppressPackageStartupMessages({library(mgcv); library(jsonlite)})
job <- fromJSON(commandArgs(TRUE)[1], simplifyVector = TRUE)

bands <- function(fit, rows, at, columns) {
  # Each curve less its mean over the rows, at points; 95 % quantile of max |f* - f| / se over them, f* from the
  # posterior (Ruppert, Wand and Carroll 2003, 6.5)
  set.seed(1)
  V <- vcov(fit, unconditional = TRUE)
  noise <- rmvn(2000, rep(0, nrow(V)), V)
  X <- predict(fit, at, type = "lpmatrix")
  mean <- colMeans(predict(fit, rows, type = "lpmatrix"))
  out <- list()
  for (column in columns) {
    own <- unlist(lapply(fit$smooth, function(s) if (identical(s$term, column)) s$first.para:s$last.para))
    if (is.null(own)) own <- which(attr(model.matrix(fit$pterms, rows), "assign") == match(column, attr(fit$pterms, "term.labels")))
    L <- sweep(X[, own, drop = FALSE], 2, mean[own])
    se <- sqrt(rowSums((L %*% V[own, own]) * L))
    out$value[[column]] <- drop(L %*% coef(fit)[own])
    out$se[[column]] <- se
    out$factor[[column]] <- quantile(apply(abs(noise[, own, drop = FALSE] %*% t(L)) / rep(se, each = nrow(noise)), 1, max), 0.95, names = FALSE)
  }
  out
}

terms_of <- function(x, columns) {
  names <- sub("^s\\((.*)\\)$", "\\1", colnames(x))
  x <- x[, match(columns, names), drop = FALSE]
  colnames(x) <- columns
  x
}

answers <- lapply(seq_along(job$rows), function(i) {
  rows <- read.csv(job$rows[i], stringsAsFactors = TRUE)
  lapply(job$formulas, function(formula) {
    start <- proc.time()
    fit <- gam(as.formula(formula), data = rows, method = "REML")
    curves <- terms_of(predict(fit, type = "terms"), job$columns)
    seconds <- sum((proc.time() - start)[1:2])
    out <- list(seconds = seconds)
    if (is.null(job$at)) {
      out$curves <- as.data.frame(curves)
    } else {
      at <- read.csv(job$at[i], stringsAsFactors = TRUE)
      out <- c(out, bands(fit, rows, at, job$columns))
    }
    out
  })
})
write_json(answers, job$out, digits = NA, auto_unbox = TRUE, dataframe = "columns", na = "null")
