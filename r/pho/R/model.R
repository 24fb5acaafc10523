#' What can be split
#'
#' [pho()] asks this generic what a model is. Methods exist for paths, functions, numbers and the classes below; one of your own makes
#' another class known. Every other object is asked by `predict(model, newdata)`.
#'
#' | model | what is split |
#' |---|---|
#' | a path or an address | the file (ONNX, or saved by XGBoost, LightGBM, CatBoost, InterpretML), or the model that is served there |
#' | a function | its values: a number for each row of the data frame that it is given, or a matrix with a column for each class or parameter |
#' | numbers, a matrix or a data frame of them | these predictions; for new rows give theirs: `predict(d, rows, predictions = )` |
#' | `lm` | the prediction |
#' | `glm`, mgcv's `gam` and `bam` | the predictor on the link's scale; the prediction, where that link is one of pho's own, so that results know the response's scale, too |
#' | `ranger` | the mean; of a probability forest the log odds, if no probability is 0 or 1 |
#' | `rpart`, `nnet`, `multinom` | the number; of classes their probabilities, as of a forest |
#' | `xgb.Booster`, `lgb.Booster` | the file that the library saves |
#' | a model of keras, a module of torch | what it returns of `as.matrix(rows[inputs])`; it needs `inputs` |
#'
#' Terms add up on the scale of the link. An object's is known; of a function and of predictions `link` says it, else they are split as they
#' are. Two columns of probabilities that sum to one are one predictor, the log odds of the second; of more classes each has one.
#'
#' @param model the model
#' @param rows a data frame: the rows that will be split
#' @param inputs names of columns that the model is fed in this order, or `NULL`
#' @param ... passed on to `predict()` of the model, where it is asked by that
#' @return A list: either `file` (a path), `bytes` (of such a file) or `predict`, a function of a data frame that returns numbers, or `NULL` if these `values` are
#'   all there is; `link`, the scale of what it returns (`"identity"`, `"log"`, `"logit"`, `"cloglog"`, `"softplus"`, `"softmax"`; `NULL`:
#'   not known); `bounded`, whether probabilities of 0 and 1 are to be expected; `family` of the response, if the model has one; `what` it is, in words.
#' @examples
#' str(pho_model(lm(dist ~ speed, cars), cars))
#' @export
pho_model <- function(model, rows, inputs = NULL, ...) UseMethod("pho_model")

#' @export
pho_model.character <- function(model, rows, inputs = NULL, ...) {
  remote <- grepl("://", model, fixed = TRUE)
  absent <- model[!remote & !file.exists(model)]
  if (length(absent)) fail("pho_model_error", "no file ", some(absent))
  list(file = ifelse(remote, model, normalizePath(model, mustWork = FALSE)), what = paste(basename(model), collapse = ", "))
}

#' @export
pho_model.function <- function(model, rows, inputs = NULL, ...) {
  list(predict = function(rows) model(fed(rows, inputs)), what = "the function")
}

#' @export
pho_model.numeric <- function(model, rows, inputs = NULL, ...) list(values = model, what = "the predictions")

#' @export
pho_model.matrix <- pho_model.numeric

#' @export
pho_model.data.frame <- function(model, rows, inputs = NULL, ...) list(values = as.matrix(model), what = "the predictions")

#' @export
pho_model.lm <- function(model, rows, inputs = NULL, ...)
  list(predict = function(rows) stats::predict(model, newdata = rows, ...), link = "identity", family = "gaussian", what = "the lm")

# Links that the program takes predictions on.
links_of_predictions <- c("identity", "log", "logit", "cloglog", "softplus")

#' @export
pho_model.glm <- function(model, rows, inputs = NULL, ...) {
  what <- paste("the", class(model)[1])
  ask <- function(rows, type) stats::predict(model, newdata = rows, type = type, ...)
  family <- stats::family(model)
  link <- family$link
  eta <- ask(rows, "link")
  # The response's scale, if it is a function of the predictor that the program knows: of families beyond the exponential one it may be another.
  known <- length(dim(eta)) < 2 && length(link) == 1 && link %in% links_of_predictions
  if (known) {
    mean <- ask(rows, "response")
    known <- length(dim(mean)) < 2 && isTRUE(all.equal(as.vector(mean), as.vector(stats::make.link(link)$linkinv(eta)), tolerance = 1e-8))
  }
  if (known) list(predict = function(rows) ask(rows, "response"), link = link, family = family_name(family), what = what)
  else list(predict = function(rows) ask(rows, "link"), link = "identity", what = paste(what, "on the scale of its link", paste(link, collapse = ", ")))
}

#' @export
pho_model.ranger <- function(model, rows, inputs = NULL, ...) {
  ask <- function(rows) stats::predict(model, data = rows, ...)$predictions
  classified(ask, model$treetype, "Classification", "Survival", "the forest", "ranger(..., probability = TRUE)")
}

classified <- function(ask, type, labels, refused, what, advice) {
  if (identical(type, labels)) fail("pho_model_error", what, " predicts classes, and no probabilities that terms could add up to: fit it by ", advice)
  if (identical(type, refused)) fail("pho_model_error", what, " predicts curves of survival: give a function of the rows that returns one number of each, as the logarithm of its cumulative hazard at a time")
  list(predict = ask, bounded = TRUE, what = what)
}

#' @export
pho_model.rpart <- function(model, rows, inputs = NULL, ...)
  list(predict = function(rows) stats::predict(model, newdata = rows, type = if (model$method == "class") "prob" else "vector", ...),
       bounded = model$method == "class", what = "the tree")

#' @export
pho_model.nnet <- function(model, rows, inputs = NULL, ...) {
  odds <- inherits(model, "multinom") || length(model$lev) == 2
  list(predict = function(rows) stats::predict(model, newdata = rows, type = if (inherits(model, "multinom")) "probs" else "raw", ...),
       link = if (odds && (model$n[length(model$n)] == 1)) "logit", bounded = odds || isTRUE(model$softmax), what = "the network of nnet")
}

#' @export
pho_model.xgb.Booster <- function(model, rows, inputs = NULL, ...) {
  path <- tempfile("pho-xgboost-", fileext = ".ubj")
  on.exit(unlink(path))
  xgboost::xgb.save(model, path)
  list(bytes = readBin(path, "raw", file.size(path)), what = "the booster")
}

#' @export
pho_model.lgb.Booster <- function(model, rows, inputs = NULL, ...) {
  path <- tempfile("pho-lightgbm-", fileext = ".txt")
  on.exit(unlink(path))
  lightgbm::lgb.save(model, path)
  list(bytes = readBin(path, "raw", file.size(path)), what = "the booster")
}

#' @export
pho_model.keras.engine.training.Model <- function(model, rows, inputs = NULL, ...) {
  if (is.null(inputs)) fail("pho_model_error", "a model of keras is fed a matrix: name its columns in order, as inputs = c(\"age\", \"income\"), or give a function of the rows")
  list(predict = function(rows) stats::predict(model, as.matrix(fed(rows, inputs)), ...), what = "the model of keras")
}

#' @export
pho_model.keras.src.models.model.Model <- pho_model.keras.engine.training.Model

#' @export
pho_model.nn_module <- function(model, rows, inputs = NULL, ...) {
  if (is.null(inputs)) fail("pho_model_error", "a module of torch is fed a tensor: name its columns in order, as inputs = c(\"age\", \"income\"), or give a function of the rows")
  list(predict = function(rows) {
    model$eval()
    torch::with_no_grad(as.matrix(model(torch::torch_tensor(as.matrix(fed(rows, inputs))))))
  }, what = "the module of torch")
}

#' @export
pho_model.default <- function(model, rows, inputs = NULL, ...) {
  what <- paste("the", paste(class(model), collapse = "/"))
  list(predict = function(rows) tryCatch(stats::predict(model, fed(rows, inputs), ...), error = function(problem)
    fail("pho_model_error", "predict() of ", what, " failed: ", conditionMessage(problem), "; a function of the rows may ask it otherwise: function(rows) predict(...)")), what = what)
}

# The columns that a model is fed.
fed <- function(rows, inputs) {
  if (is.null(inputs)) return(rows)
  absent <- setdiff(inputs, names(rows))
  if (length(absent)) fail("pho_data_error", "inputs: no column ", some(absent))
  rows[inputs]
}

# The program's name of a family of R; NULL: it has none.
family_name <- function(family) {
  if (inherits(family, "family")) family <- family$family
  if (!is.character(family)) fail("pho_program_error", "family is neither a family nor its name")
  name <- gsub("[. ]", "-", tolower(sub("[(].*", "", family)))
  known <- c(gaussian = "gaussian", binomial = "binomial", poisson = "poisson", gamma = "gamma", "inverse-gaussian" = "inverse-gaussian",
             quasibinomial = "binomial", quasipoisson = "poisson")
  if (name %in% names(known)) known[[name]]
}

# Predictions as a matrix, a row for each row.
predictions_of <- function(values, rows, what, na) {
  bad <- function(...) fail("pho_model_error", ...)
  if (is.data.frame(values)) values <- as.matrix(values)
  if (is.factor(values) || is.character(values)) bad(what, " predicts classes, and no numbers: give a function of the rows that returns their probabilities")
  if (is.list(values)) bad(what, " returns a list: give a function of the rows that takes the numbers from it")
  if (is.array(values) && length(dim(values)) > 2 && prod(dim(values)[-(1:2)]) == 1) dim(values) <- dim(values)[1:2]
  if (length(dim(values)) > 2 || !is.numeric(values) && !is.logical(values))
    bad(what, " returns ", paste(class(values), collapse = "/"), ", and neither a number for each row nor a matrix of them")
  if (length(dim(values)) < 2) values <- matrix(as.double(values), ncol = 1)
  n <- nrow(rows)
  if (nrow(values) != n) bad(what, if (identical(what, "the predictions")) " are of " else " returns predictions of ", nrow(values), " rows, and there are ", n)
  if (ncol(values) == 0) bad(what, " returns no predictions")
  at <- which(!stats::complete.cases(values) | rowSums(!is.finite(values)) > 0)
  if (length(at) && (na == "error" || any(is.infinite(values[at, ]))))
    fail("pho_model_error", what, if (identical(what, "the predictions")) " are " else " predicts ", values[at[1], !is.finite(values[at[1], ])][1], " of row ", at[1],
         if (length(at) > 1) paste0(" (and of ", length(at) - 1, " more)"), ": na = \"drop\" leaves rows out of which there are none", fields = list(rows = at))
  storage.mode(values) <- "double"
  unclass(values)
}

# The link that predictions are split on: what was asked for, what the model knows, what they look like.
# Two columns of classes become one. Returns values, link, and a warning, if any.
linked <- function(values, model, link, clip) {
  sums_to_one <- ncol(values) > 1 && all(values >= 0 & values <= 1, na.rm = TRUE) && all(abs(rowSums(values) - 1) < 1e-6, na.rm = TRUE)
  own <- or(link, or(model$link, if (sums_to_one && isTRUE(model$bounded)) "softmax" else "identity"))
  if (ncol(values) == 2 && sums_to_one && own %in% c("softmax", "logit")) {
    values <- values[, 2, drop = FALSE]
    own <- "logit"
  }
  warning <- NULL
  edge <- own %in% c("logit", "softmax", "cloglog") && any(values == 0 | values == 1, na.rm = TRUE)
  if (edge && is.null(link) && is.null(clip) && isTRUE(model$bounded)) {
    warning <- paste0(model$what, " predicts probabilities of 0 or 1, whose log odds are infinite: they are split as they are; link = \"", own, "\" with clip = 1e-6 takes log odds")
    own <- "identity"
  }
  list(values = values, link = own, warning = warning)
}

# Names for columns of predictions that the rows do not have.
prediction_names <- function(values, taken) {
  if (ncol(values) == 1) names <- "predicted" else {
    names <- paste0("p_", or(colnames(values), paste0("eta", seq_len(ncol(values)))))
  }
  while (any(names %in% taken)) names <- paste0("_", names)
  names
}

# The model's file, whose bytes are written into the folder if they are all there is; NULL: it is called.
file_of <- function(model, folder) {
  if (is.null(model$bytes)) return(model$file)
  path <- file.path(folder, "model")
  writeBin(model$bytes, path)
  path
}
