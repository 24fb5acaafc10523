#' A decomposition as tables
#'
#' @param x a decomposition
#' @param row.names,optional not used
#' @param what `"contributions"`: what each term adds on each row; `"effects"`: curves, surfaces and levels on grids, with standard errors, a
#'   pointwise and a simultaneous band; `"terms"`: a row for each term
#' @param ... not used
#' @return a data frame
#' @export
as.data.frame.pho <- function(x, row.names = NULL, optional = FALSE, what = c("contributions", "effects", "terms"), ...) {
  what <- match.arg(what)
  switch(what, contributions = stored(x), effects = x$effects, terms = tidy.pho(x))
}

#' Tidy tables
#'
#' Methods for the generics of broom: `tidy()` has a row for each term, or for each coefficient of the parametric part, as broom has
#' of mgcv's models; `glance()` a row for each predictor.
#'
#' @param x a decomposition
#' @param parametric coefficients, in place of terms
#' @param conf.int,conf.level bounds of coefficients
#' @param ... not used
#' @return a data frame
#' @exportS3Method generics::tidy
tidy.pho <- function(x, parametric = FALSE, conf.int = FALSE, conf.level = 0.95, ...) {
  several <- length(x$predictors) > 1
  of <- function(name, table) if (several && nrow(table)) cbind(predictor = name, table) else table
  if (!parametric) return(bind(lapply(x$artifact$predictors, function(p) of(p$name, term_table(p)))))
  all <- coefficients_of(x)
  bind(lapply(names(all), function(name) {
    own <- all[[name]]
    table <- data.frame(term = names(own$estimate), estimate = unname(own$estimate), std.error = unname(own$se), before = own$before, stringsAsFactors = FALSE)
    q <- stats::qt(1 - (1 - conf.level) / 2, own$df)
    if (conf.int) table <- cbind(table, conf.low = table$estimate - q * table$std.error, conf.high = table$estimate + q * table$std.error)
    of(name, table)
  }))
}

bind <- function(tables) {
  out <- do.call(rbind, tables)
  rownames(out) <- NULL
  out
}

#' @rdname tidy.pho
#' @exportS3Method generics::glance
glance.pho <- function(x, ...) {
  a <- x$artifact
  bind(lapply(a$predictors, function(p) {
    data.frame(predictor = p$name, nobs = a$rows, method = a$method, edf = p$edf, structured = p$variance$structured / p$variance$total,
               structured.before = p$variance_before$structured / p$variance_before$total, unstructured = p$variance$unstructured / p$variance$total,
               scale = p$scale, r.squared = or(a$prediction$r2, NA_real_), deviance.explained = or(a$prediction$deviance_explained, NA_real_),
               stringsAsFactors = FALSE)
  }))
}

#' @exportS3Method knitr::knit_print
knit_print.pho <- function(x, ...) {
  tables <- lapply(x$artifact$predictors, function(p) {
    t <- term_table(p)
    t <- data.frame(term = paste0("`", t$term, "`"), edf = sprintf("%.2f", t$edf), share = ifelse(is.na(t$share), "", sprintf("%.1f %%", 100 * t$share)), sd = signif(t$sd, 3), verdict = t$verdict)
    knitr::kable(t, align = "lrrrl", caption = sprintf("%s%s, %s rows: terms hold %.1f %% of its variance", model_words(x), if (length(x$predictors) > 1) paste0(", ", p$name) else "",
                                                       format(x$artifact$rows, big.mark = ","), 100 * p$variance$structured / p$variance$total))
  })
  knitr::asis_output(paste(vapply(tables, function(t) paste(t, collapse = "\n"), ""), collapse = "\n\n"))
}

#' @exportS3Method xtable::xtable
xtable.pho <- function(x, caption = NULL, label = NULL, align = NULL, digits = NULL, display = NULL, auto = FALSE, parametric = FALSE, ...) {
  t <- tidy.pho(x, parametric = parametric)
  t$why <- NULL
  xtable::xtable(t, caption = caption, label = label, align = align, digits = digits, display = display, auto = auto, ...)
}
