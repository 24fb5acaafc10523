#' @export
print.pho <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  a <- x$artifact
  cat("\n", model_words(x), " over ", format(a$rows, big.mark = ","), " rows\n", sep = "")
  cat(formula_words(x), sep = "\n")
  for (p in a$predictors) {
    t <- term_table(p)
    cat("\n", if (length(x$predictors) > 1) paste0(p$name, ": "), "share of the model's variance\n", sep = "")
    share <- c(told(p, stats::setNames(t$share, t$term)), unstructured = p$variance$unstructured / p$variance$total)
    share <- share[!is.na(share)]
    print(noquote(stats::setNames(sprintf("%.1f%%", round(100 * share, 1) + 0), names(share)))) # + 0: a zero has no sign
  }
  if (length(x$warnings)) cat("\n", length(x$warnings), if (length(x$warnings) == 1) " warning" else " warnings", ": see summary()\n", sep = "")
  cat("\n")
  invisible(x)
}

model_words <- function(d) {
  columns <- unlist(prediction_columns(d$artifact))
  if (!is.null(d$model$predict)) return(paste0("Decomposition of ", d$model$what))
  if (length(columns)) return(paste0("Decomposition of the predictions ", some(columns)))
  paste0("Decomposition of ", basename(or(d$artifact$model$path, or(d$artifact$model$address, "a model"))))
}

formula_words <- function(d) {
  words <- vapply(d$artifact$predictors, function(p) paste("~", paste(c(term_names(p), "unstructured"), collapse = " + ")), "")
  if (length(unique(words)) == 1) words <- paste(c(d$artifact$response, unique(words)), collapse = " ") else words <- paste(d$predictors, words)
  unlist(lapply(words, strwrap, width = getOption("width"), exdent = 4))
}

# Numbers of terms that add up, of terms of which only the sum is identified added.
told <- function(p, of) {
  for (e in p$entangled) {
    names <- unlist(e$terms)
    at <- match(names, names(of))
    sum <- stats::setNames(sum(of[at]), paste(names, collapse = " + "))
    of <- append(of[-at], sum, after = min(at) - 1)
  }
  of
}

# The terms of a predictor: what `pho summary` has in its second table, and what else the artifact says of each.
term_table <- function(p) {
  alone <- Filter(function(i) length(i$terms) == 1, p$importance)
  shares <- stats::setNames(vapply(alone, function(i) or(i$variance_share, NA_real_), 0), vapply(alone, function(i) i$terms[[1]], ""))
  number <- function(get) vapply(p$terms, function(t) as.numeric(or(get(t), NA)), 0)
  text <- function(get) vapply(p$terms, function(t) as.character(or(get(t), NA)), "")
  data.frame(term = term_names(p), kind = text(function(t) t$kind), edf = number(function(t) t$edf), ref.df = number(function(t) or(t$edf1, t$edf)),
             share = unname(shares[term_names(p)]), sd.before = sqrt(pmax(number(function(t) t$before$variance), 0)),
             sd = sqrt(pmax(number(function(t) t$after$variance), 0)),
             verdict = text(function(t) or(t$verdict, if (isTRUE(t$identified)) "identified" else "sum")), why = text(function(t) t$why),
             stringsAsFactors = FALSE)
}

#' Summary of a decomposition, in the layout of mgcv
#'
#' What `pho summary` prints: parametric coefficients with standard errors, terms with degrees of freedom and their shares of the
#' model's variance, how well the model predicts, and what is left. There are no p values: they would test the response, which the
#' model has seen already.
#'
#' @param object a decomposition
#' @param full all predictors, terms and warnings, however many they are
#' @param ... not used
#' @return An object of class `"summary.pho"`: `text`, which is printed; `p.table` (coefficients) and `s.table` (terms), data frames by predictor.
#' @export
summary.pho <- function(object, full = FALSE, ...) {
  home <- home_of(object)
  on.exit(home$done())
  structure(list(text = vapply(run(c("summary", home$dir, if (full) "--full"))$out, spoken, "", USE.NAMES = FALSE), p.table = coefficient_tables(object),
                 s.table = stats::setNames(lapply(object$artifact$predictors, term_table), object$predictors)), class = "summary.pho")
}

#' @export
print.summary.pho <- function(x, ...) {
  cat(x$text, sep = "\n")
  invisible(x)
}

# The parametric part of each predictor, by the program: Estimate, Std. Error, bounds and Before, with the names of the summary.
coefficients_of <- function(d) {
  home <- home_of(d)
  on.exit(home$done())
  told <- jsonlite::fromJSON(paste(run(c("summary", home$dir, "--json"))$out, collapse = "\n"), simplifyVector = FALSE)$predictors
  stats::setNames(lapply(told, function(p) {
    number <- function(field) vapply(p$coefficients, function(c) as.numeric(or(c[[field]], NA)), 0)
    names <- vapply(p$coefficients, function(c) c$name, "")
    n <- length(names)
    cov <- if (is.null(p$covariance)) matrix(NA_real_, n, n) else matrix(as.numeric(unlist(p$covariance)), n, n)
    dimnames(cov) <- list(names, names)
    list(estimate = stats::setNames(number("estimate"), names), se = stats::setNames(number("se"), names), before = number("before"), vcov = cov, df = or(p$df, Inf))
  }), d$predictors)
}

coefficient_tables <- function(d) lapply(coefficients_of(d), function(own) {
  q <- stats::qt(0.975, own$df)
  data.frame(Estimate = own$estimate, "Std. Error" = own$se, "2.5 %" = own$estimate - q * own$se, "97.5 %" = own$estimate + q * own$se, Before = own$before,
             row.names = names(own$estimate), check.names = FALSE)
})

#' Coefficients of the parametric part
#'
#' Slopes of numbers, differences of a factor's levels to the first, and the intercept that belongs to them, smooth terms being centred: as
#' in the first table of the summary. Their covariances are given the model: how far other rows of the same kind would move them.
#'
#' @param object a decomposition
#' @param predictor name or number, of several
#' @param parm names or numbers of coefficients; all, if missing
#' @param level of confidence
#' @param ... not used
#' @return a named vector, a matrix; for `confint` a matrix with a column for each bound
#' @export
coef.pho <- function(object, predictor = NULL, ...) coefficients_of(object)[[predictor_of(object, predictor)$name]]$estimate

#' @rdname coef.pho
#' @export
vcov.pho <- function(object, predictor = NULL, ...) coefficients_of(object)[[predictor_of(object, predictor)$name]]$vcov

#' @rdname coef.pho
#' @export
confint.pho <- function(object, parm, level = 0.95, predictor = NULL, ...) {
  own <- coefficients_of(object)[[predictor_of(object, predictor)$name]]
  if (missing(parm)) parm <- names(own$estimate)
  if (is.numeric(parm)) parm <- names(own$estimate)[parm]
  tails <- c((1 - level) / 2, 1 - (1 - level) / 2)
  bounds <- own$estimate[parm] + own$se[parm] %o% stats::qt(tails, own$df)
  dimnames(bounds) <- list(parm, paste(format(100 * tails, trim = TRUE, digits = 3), "%"))
  bounds
}

#' @export
nobs.pho <- function(object, ...) object$artifact$rows

#' @export
formula.pho <- function(x, ...) {
  text <- unlist(x$artifact$formulas)
  made <- lapply(text, function(f) tryCatch(stats::as.formula(f, env = parent.frame(3)), error = function(e) f))
  if (length(made) == 1) made[[1]] else made
}

#' @export
family.pho <- function(object, ...) object$artifact$family
