#' Read and write results
#'
#' `read_pho()` reads what `pho decompose` wrote, by the command, Python or R. `write_pho()` writes a decomposition into a directory of its
#' own, as the command does: with `report.html`, a page to read in a browser. An object can also go through `saveRDS()`.
#'
#' @param dir a directory
#' @param model the model, for new rows: a file that is not where it was, or what [pho()] was given
#' @return `read_pho()`: an object of class `"pho"`, as of [pho()]. `write_pho()`: `dir`, invisibly
#' @examples
#' \dontrun{
#' d <- read_pho("result")
#' browseURL(file.path(d$dir, "report.html"))
#' }
#' @export
read_pho <- function(dir, model = NULL) {
  if (!file.exists(file.path(dir, "decomposition.json"))) fail("pho_data_error", "'", dir, "' is no decomposition: it has no decomposition.json")
  m <- if (is.null(model)) list(what = "the model") else pho_model(model)
  d <- new_pho(dir, m)
  if (is.null(m$file)) d$model$columns <- unlist(prediction_columns(d$artifact))
  d
}

#' @rdname read_pho
#' @param d a decomposition
#' @export
write_pho <- function(d, dir) {
  home <- home_of(d)
  on.exit(home$done())
  if (dir.exists(dir) && length(list.files(dir, all.files = TRUE, no.. = TRUE))) fail("pho_data_error", "'", dir, "' is there and not empty")
  dir.create(dir, showWarnings = FALSE, recursive = TRUE)
  if (!all(file.copy(list.files(home$dir, full.names = TRUE), dir))) fail("pho_data_error", "'", dir, "' cannot be written")
  invisible(dir)
}

new_pho <- function(dir, model) {
  file <- file.path(dir, "decomposition.json")
  artifact <- tryCatch(jsonlite::fromJSON(file, simplifyVector = FALSE), error = function(problem) fail("pho_data_error", "'", file, "' cannot be read: ", conditionMessage(problem)))
  if (!startsWith(or(artifact$format, ""), "pho.decomposition/"))
    fail("pho_data_error", "'", dir, "' is no decomposition: its format is ", or(artifact$format, "not named"))
  names <- vapply(artifact$predictors, function(p) p$name, "")
  kept <- setdiff(list.files(dir), c("adapted.onnx", "surrogate.onnx", "contributions.csv", "contributions.parquet"))
  structure(list(
    artifact = artifact, contributions = contributions(dir), effects = effects_table(file.path(dir, "effects.csv"), artifact), predictors = names,
    links = stats::setNames(lapply(artifact$predictors, function(p) p$link), names), warnings = as.character(unlist(artifact$warnings)),
    model = model, dir = normalizePath(dir), files = lapply(stats::setNames(kept, kept), function(name) readBin(file.path(dir, name), "raw", file.size(file.path(dir, name))))),
    class = "pho")
}

# A directory with the result's files, and what to call when it is of no more use: the one that it was written to, if it is still
# there, else a temporary one.
home_of <- function(d) {
  if (file.exists(file.path(d$dir, "decomposition.json"))) return(list(dir = d$dir, done = function() NULL))
  dir <- tempfile("pho-")
  dir.create(dir)
  for (name in names(d$files)) writeBin(d$files[[name]], file.path(dir, name))
  list(dir = dir, done = function() unlink(dir, recursive = TRUE))
}

# Contributions of the rows that were decomposed; NULL if none were written, or nobody here reads Parquet.
contributions <- function(dir) {
  csv <- file.path(dir, "contributions.csv")
  if (file.exists(csv)) return(read_table(csv))
  binary <- file.path(dir, "contributions.parquet")
  if (file.exists(binary) && !is.null(parquet())) read_table(binary)
}

# The table of effects, numbers as numbers; x and x2 stay text, as they hold levels of factors.
effects_table <- function(path, artifact) {
  if (!file.exists(path)) return(NULL)
  table <- utils::read.csv(path, colClasses = "character", check.names = FALSE, na.strings = character(), encoding = "UTF-8")
  for (name in setdiff(names(table), c("predictor", "term", "stage", "x", "x2", "member")))
    table[[name]] <- as.numeric(ifelse(table[[name]] == "", NA, table[[name]]))
  table
}

prediction_columns <- function(artifact) {
  model <- artifact$model
  lapply(if (length(model$members)) model$members else list(model), function(m) unlist(m$predictions))
}

# The predictor of a name or number; of several one has to be named.
predictor_of <- function(d, predictor) {
  if (is.null(predictor)) {
    if (length(d$predictors) > 1) fail("pho_program_error", "there are several predictors, ", some(d$predictors), ": name one, predictor = ")
    predictor <- 1
  }
  k <- if (is.character(predictor)) match(predictor, d$predictors) else predictor
  if (length(k) != 1 || is.na(k) || k < 1 || k > length(d$predictors)) fail("pho_program_error", "no predictor '", predictor, "'; there are ", some(d$predictors))
  d$artifact$predictors[[k]]
}

term_names <- function(p) vapply(p$terms, function(t) t$name, "")
