#' The model's predictions, and the terms that they are made of
#'
#' Of new rows the program computes the parts, with the coefficients and the centring of the decomposition; nothing is fitted again. A
#' model that is a function or an object is asked for its predictions of them first.
#'
#' @param object a decomposition, of [pho()] or [read_pho()]
#' @param newdata a data frame of new rows, with the columns of terms and those that the model reads; `NULL`: the rows that were decomposed
#' @param type `"link"`: the model's own predictor; `"response"`: what hangs on it by the link, as a probability; `"terms"`: a matrix of what each
#'   term adds, and of what no term explains, `"unstructured"`, with the intercept as attribute `"constant"`, as mgcv has it:
#'   `rowSums(m) + attr(m, "constant")` is the predictor
#' @param predictor name or number of one of several predictors; `NULL`: of several types link and response give a matrix with a column for each
#' @param terms,exclude names of terms (and `"unstructured"`) that are kept, or left out; types link and response are then without the others
#' @param se.fit of type terms: a list of `fit` and `se.fit`, the standard errors of the terms given the model. The predictor itself is the
#'   model's and has none
#' @param predictions of a decomposition of predictions that were given: those of the new rows, as they were given
#' @param ... flags of `pho apply` with underscores: `na = "drop"`, `unseen = "zero"`
#' @return a vector, a matrix, or a list of two matrices
#' @export
predict.pho <- function(object, newdata = NULL, type = c("link", "response", "terms"), predictor = NULL, terms = NULL, exclude = NULL,
                        se.fit = FALSE, predictions = NULL, ...) {
  type <- match.arg(type)
  if (se.fit && type != "terms")
    fail("pho_program_error", "se.fit: standard errors are those of terms, type = \"terms\"; the predictor is what the model says, and has none")
  # Standard errors are of rows that are handed over, also of those that were decomposed.
  if (se.fit && is.null(newdata)) newdata <- or(object$data, fail("pho_data_error", "se.fit: the rows are not at hand: give them as newdata"))
  parts <- if (is.null(newdata)) stored(object) else applied(object, newdata, predictions, c(list(...), se = if (se.fit) TRUE))
  if (type != "terms") {
    chosen <- if (is.null(predictor)) object$predictors else predictor_of(object, predictor)$name
    # Probabilities of classes hang on the predictors of all.
    all <- vapply(if (type == "response") object$predictors else chosen, function(name) predictor_parts(object, parts, name, terms, exclude), numeric(nrow(parts)))
    all <- matrix(all, nrow(parts), dimnames = list(NULL, if (type == "response") object$predictors else chosen))
    if (type == "response") all <- response_of(object, all)
    return(if (is.null(predictor) && length(object$predictors) > 1) all else unname(all[, if (ncol(all) == 1) 1 else chosen]))
  }
  p <- predictor_of(object, predictor)
  prefix <- prefix_of(object, p$name)
  kept <- kept_terms(p, terms, exclude)
  fit <- as.matrix(parts[paste0(prefix, kept)])
  dimnames(fit) <- list(NULL, kept)
  attr(fit, "constant") <- p$intercept
  if (!se.fit) return(fit)
  own <- setdiff(kept, "unstructured")
  se <- as.matrix(parts[paste0(prefix, own, ".se")])
  dimnames(se) <- list(NULL, own)
  list(fit = fit, se.fit = se)
}

prefix_of <- function(d, name) if (length(d$predictors) > 1) paste0(name, ".") else ""

kept_terms <- function(p, terms, exclude) {
  all <- c(term_names(p), "unstructured")
  absent <- setdiff(c(terms, exclude), all)
  if (length(absent)) fail("pho_program_error", "no term ", some(absent), "; there are ", some(all))
  setdiff(or(terms, all), exclude)
}

# The predictor, or the sum of those parts of it that are kept.
predictor_parts <- function(d, parts, name, terms, exclude) {
  p <- predictor_of(d, name)
  prefix <- prefix_of(d, p$name)
  if (is.null(terms) && is.null(exclude)) return(parts[[paste0(prefix, "eta")]])
  p$intercept + rowSums(parts[paste0(prefix, kept_terms(p, terms, exclude))])
}

# What hangs on the predictors, a column for each: shift + scale h(beta eta)/beta with the inverse h of the link.
response_of <- function(d, eta) {
  names <- vapply(d$links, function(l) or(l$name, ""), "")
  if (length(names) && all(names == "multinomial logit")) {
    e <- exp(eta - apply(eta, 1, max))
    return(e / rowSums(e))
  }
  for (name in colnames(eta)) {
    l <- d$links[[name]]
    h <- switch(or(l$name, ""), identity = , "identity of log time" = identity, log = , "log hazard ratio" = exp, logit = stats::plogis,
                cloglog = function(x) -expm1(-exp(x)), softplus = function(x) ifelse(x > 30, x, log1p(exp(x))),
                fail("pho_program_error", "type = \"response\": ", if (is.null(l)) "nothing is known of what hangs on '" else paste0("the link ", l$name, " gives no single number of '"), name, "': take type = \"link\""))
    beta <- or(l$beta, 1)
    eta[, name] <- or(l$shift, 0) + or(l$scale, 1) * h(beta * eta[, name]) / beta
  }
  eta
}

stored <- function(d) or(d$contributions, fail("pho_data_error",
  "the decomposition was written without contributions, or in Parquet, which needs the package arrow or nanoparquet: give the rows as newdata"))

# The parts of new rows, by the program.
applied <- function(d, newdata, predictions, options) {
  folder <- tempfile("pho-")
  dir.create(folder)
  home <- home_of(d)
  on.exit({
    unlink(folder, recursive = TRUE)
    home$done()
  })
  rows <- compute(as_rows(newdata, "newdata"), d$computed)
  columns <- unlist(prediction_columns(d$artifact))
  if (length(columns)) {
    given <- if (!is.null(predictions)) predictions else if (all(columns %in% names(rows))) rows[columns] else if (!is.null(d$model$predict)) d$model$predict(rows) else
      fail("pho_data_error", "the decomposition is of predictions, ", some(columns), ": give those of the new rows as predictions, or read it with its model: read_pho(dir, model)")
    values <- predictions_of(given, rows, if (is.null(d$model$predict)) "the predictions" else d$model$what, or(options$na, "error"))
    if (ncol(values) == 2 && length(columns) == 1) values <- values[, 2, drop = FALSE]
    if (ncol(values) != length(columns)) fail("pho_model_error", "there are ", ncol(values), " predictions of a row, and were ", length(columns), " when the model was decomposed")
    rows[columns] <- as.data.frame(values)
  }
  rows <- rows[vapply(rows, function(column) !is.list(column) || inherits(column, "POSIXlt"), TRUE)]
  sent <- write_rows(rows, folder)
  out <- file.path(folder, if (is.null(parquet())) "parts.csv" else "parts.parquet")
  heard <- run(c("apply", paste0("--decomposition=", home$dir), paste0("--data=", sent$path), paste0("--out=", out),
                 flags(c(list(model = file_of(d$model, folder)), options))), stats::setNames("newdata", sent$path))$said
  for (line in grep("^warning: ", heard, value = TRUE)) warning(spoken(sub("^warning: ", "", line)), call. = FALSE)
  read_table(out)
}

#' @export
fitted.pho <- function(object, ...) predict.pho(object, type = "link", ...)

#' @export
residuals.pho <- function(object, predictor = NULL, ...) unname(predict.pho(object, type = "terms", predictor = predictor, terms = "unstructured")[, 1])
