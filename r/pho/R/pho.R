#' Split what a model predicts into terms and a remainder
#'
#' The model's predictor over the rows is split into the terms of a formula and a remainder that is orthogonal to them (post-hoc
#' orthogonalization, Rügamer 2023; with penalties, as of `s()`, smoothing parameters are chosen by REML as mgcv does). For every row
#' intercept + terms + unstructured is what the model predicts, on the scale of its link. The work is done by the program `pho`, which
#' has to be on PATH or named by `options(pho.command = )`; rows go over as files with all digits.
#'
#' @param formula a formula in the notation of mgcv: `y ~ s(age, k = 20) + region + te(lon, lat)`, a `.` for terms of all other columns;
#'   functions of columns such as `log(x)` are computed, products `a * b` written out. The response is for importance and fit alone: the
#'   split does not need it. A list has formulas by predictor: `list(mu = y ~ s(x), sigma = ~ x)`. Text goes to the program as it is.
#'   `NULL`: what structure the model's file has, or for a black box terms of all columns
#' @param data a data frame (also a tibble or a data.table), or, for models that are files, the paths of data files. Factors keep the order of their levels, text is a
#'   factor, dates are days and times are seconds since 1970
#' @param model a path, a function of a data frame, predictions, or a fitted object: [pho_model()]
#' @param response name of the response's column, if the formula does not have it. A factor is 0 at its first level and else 1 beside a single
#'   prediction, as of `glm`, and beside probabilities of classes the class
#' @param weights,offset a column's name, or an expression of columns: weights of rows, and what is added to the predictor in the likelihood
#' @param family distribution of the response, as R's family or by the program's name, `"negative-binomial"`. `NULL`: the model's own, else what its link suggests
#' @param link of a function or of predictions: the scale on which terms add up, `"identity"`, `"log"`, `"logit"`, `"cloglog"`,
#'   `"softplus"`, of probabilities of classes in columns `"softmax"`. `NULL`: known of the object, else the identity
#' @param clip moves probabilities of 0 and 1 by so much, whose log odds are infinite
#' @param inputs names of columns that the model is fed, in order; of a file with several inputs a list by their names
#' @param na what to do with missing cells: an error, leave such rows out (`"drop"`), or keep them for a model that takes them (`"keep"`)
#' @param labels what the report calls columns, levels and terms: a JSON file, or a list like it
#' @param out directory for the result, which keeps it; `NULL`: a temporary one, of which the object has what methods need
#' @param ... flags of `pho decompose` with underscores: `smoothing = "ml"`, `sp = c("s(x)" = 0.3)`, `cluster = "id"`, `interactions = 3`,
#'   `factor = "month"`, `bands = "projection"`, `no_structure = TRUE`; several values repeat a flag
#' @return An object of class `"pho"`: `artifact` (decomposition.json as a list), `contributions` and `effects` (data frames), `predictors`
#'   (names), `links` (by predictor), `warnings`, `call`, `model`, `dir`. Its methods: `print`, `summary`, `coef`, `vcov`, `confint`, `predict`,
#'   `fitted`, `residuals`, `nobs`, `formula`, `plot`, `as.data.frame`; `autoplot` (ggplot2), `tidy` and `glance` (broom, generics), `knit_print`, `xtable`;
#'   gratia's `smooth_estimates` and `draw`.
#'
#'   Errors have class `"pho_error"`: `"pho_program_error"` with `status`, `arguments` and `said`, `"pho_missing_program"`, `"pho_model_error"`,
#'   `"pho_data_error"` with the `column`.
#' @references D. Rügamer (2023). A New PHO-rmula for Improved Performance of Semi-Structured Networks. ICML.
#' @examples
#' \dontrun{
#' d <- pho(dist ~ s(speed), cars, function(rows) 3 * rows$speed + sin(rows$speed))
#' d
#' plot(d)
#' }
#' @export
pho <- function(formula = NULL, data, model, response = NULL, weights = NULL, offset = NULL, family = NULL, link = NULL, clip = NULL,
                inputs = NULL, na = c("error", "drop", "keep"), labels = NULL, out = NULL, ...) {
  call <- match.call()
  na <- match.arg(na)
  if (missing(data)) fail("pho_data_error", "data is missing: pho(formula, data, model)")
  if (missing(model)) fail("pho_model_error", "model is missing: a path, a function, predictions, or a fitted object")
  program()
  folder <- tempfile("pho-")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  options <- list(...)
  if (is.character(data)) {
    if (!is.character(model)) fail("pho_data_error", "data are files, which the program reads itself: the model has to be a file, too, or the rows a data frame")
    f <- if (is.null(formula) || is.character(formula)) spelled(formula) else spelled(formula, list())
    if (length(f$computed)) fail("pho_data_error", "formula: ", quoted(names(f$computed)), " is computed from rows in memory: read the files, or add the column to them")
    m <- pho_model(model)
    sent <- list(data = data)
    roles <- list(weights = weights, offset = offset)
  } else {
    rows <- as_rows(data)
    f <- spelled(formula, rows)
    rows <- compute(rows, f$computed)
    m <- pho_model(model, rows = rows, inputs = if (!is.list(inputs)) inputs)
    called <- is.null(m$file) && is.null(m$bytes)
    roles <- list(weights = role(substitute(weights), rows, parent.frame(), "weights"), offset = role(substitute(offset), rows, parent.frame(), "offset"))
    for (name in names(roles)) {
      if (is.null(roles[[name]]$values)) next
      rows[[roles[[name]]$name]] <- roles[[name]]$values
    }
    roles <- lapply(roles, `[[`, "name")
    if (called) {
      values <- if (!is.null(m$values)) m$values else m$predict(rows)
      own <- linked(predictions_of(values, rows, m$what, na), m, link, clip)
      if (!is.null(own$warning)) warning(own$warning, call. = FALSE)
      predicted <- prediction_names(own$values, names(rows))
      rows[predicted] <- as.data.frame(own$values)
      answer <- rows[[or(or(response, f$response), NA)]]
      if (length(predicted) == 1 && (is.factor(answer) || is.character(answer))) # as glm has it: the first level is a failure
        rows[[or(response, f$response)]] <- as.numeric(as.factor(answer) != levels(as.factor(answer))[1])
      link <- own$link
      options$predictions <- listed(predicted)
      m$columns <- predicted
    }
    spoken_of <- unlist(c(response, roles, options[c("id", "cluster", "groups", "event", "factor", "text")], inputs))
    keep <- if (called && !is.null(f$uses)) unique(c(f$uses, f$offset, spoken_of, predicted)) else names(rows)
    absent <- setdiff(spoken_of, names(rows))
    if (length(absent)) fail("pho_data_error", "no column ", some(absent), "; there are ", some(names(rows)), fields = list(column = absent))
    kept <- rows[intersect(names(rows), keep)]
    if (!called) kept <- kept[vapply(kept, function(column) !is.list(column) || inherits(column, "POSIXlt"), TRUE) | names(kept) %in% c(f$uses, spoken_of)]
    sent <- send(kept, folder, options)
  }
  options[c("text", "levels", "factor")] <- NULL
  options$model <- file_of(m, folder)
  if (is.null(family) && !is.null(m$family) && length(c(response, f$response))) family <- m$family
  if (!is.null(family) && !is.character(family)) family <- or(family_name(family), fail("pho_program_error", "family ", family$family, " of R has no name here: give the program's, as family = \"negative-binomial\""))
  result <- tempfile("pho-result-")
  arguments <- c(
    "decompose", "--log=json", paste0("--out=", if (is.null(out)) result else out), paste0("--na=", na),
    flags(c(sent, list(formula = f$formulas, response = response, family = family, link = if (!identical(link, "identity")) link, clip = clip,
                       weights = roles$weights, offset = or(roles$offset, f$offset), input = input_flags(inputs, m), labels = label_file(labels, folder),
                       contributions = if (!is.null(options$contributions)) NULL else if (is.null(parquet())) "csv" else "parquet"), options)))
  run(arguments, stats::setNames("the data", or(sent$data[1], "")), call = call)
  d <- new_pho(if (is.null(out)) result else out, m)
  d$call <- call
  d$computed <- f$computed
  if (!is.character(data)) d$data <- rows[intersect(names(rows), features_of(d$artifact))]
  d
}

# Writes rows into the folder; returns the flags that say what they are.
send <- function(rows, folder, options = list()) {
  written <- write_rows(rows, folder)
  ordered <- written$levels[!grepl("=", names(written$levels), fixed = TRUE)]
  text <- setdiff(unique(c(options$text, written$text)), names(ordered))
  list(data = written$path, text = if (length(text)) listed(text), levels = if (length(ordered)) vapply(ordered, listed, ""),
       factor = if (length(options$factor)) listed(options$factor))
}

# A column that an argument names, or an expression of columns: its name, and its values if it is none of the rows' own.
role <- function(expression, rows, env, name) {
  if (is.null(expression)) return(NULL)
  if (is.name(expression) && as.character(expression) %in% names(rows)) return(list(name = as.character(expression)))
  value <- eval(expression, rows, env)
  if (is.null(value)) return(NULL)
  if (is.character(value) && length(value) == 1) return(list(name = value))
  if (!is.numeric(value) || length(value) != nrow(rows))
    fail("pho_data_error", name, " is neither the name of a column nor a number for each of ", nrow(rows), " rows")
  while (name %in% names(rows)) name <- paste0("(", name, ")")
  list(name = name, values = as.double(value))
}

# Columns of inputs of a file, as the program takes them; models that are called are fed here.
input_flags <- function(inputs, model) {
  if (is.null(inputs) || is.null(model$file) && is.null(model$bytes)) return(NULL)
  if (!is.list(inputs)) fail("pho_program_error", "inputs of a file have names: inputs = list(x = c(\"age\", \"income\"))")
  lapply(inputs, paste, collapse = ",")
}

label_file <- function(labels, folder) {
  if (is.null(labels) || is.character(labels)) return(labels)
  path <- file.path(folder, "labels.json")
  writeLines(enc2utf8(as.character(jsonlite::toJSON(labels, auto_unbox = TRUE, digits = NA))), path, useBytes = TRUE)
  path
}

# The columns that terms depend on.
features_of <- function(artifact) unique(unlist(lapply(artifact$predictors, function(p) lapply(p$terms, function(t) c(t$features, t$spec$by$column)))))
