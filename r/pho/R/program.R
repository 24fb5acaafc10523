# The program and how it is run.

least_version <- "0.1.0"

# The path of the program, which has been seen to be one of this package's time.
program <- function() {
  named <- getOption("pho.command", Sys.getenv("PHO_BINARY", "pho"))
  path <- unname(Sys.which(named))
  where <- "; option pho.command, the environment variable PHO_BINARY or PATH says where it is: options(pho.command = \"/path/to/pho\")"
  if (!nzchar(path)) fail("pho_missing_program", "the program '", named, "' is not found", where, fields = list(command = named))
  said <- tryCatch(suppressWarnings(system2(path, "--version", stdout = TRUE, stderr = FALSE)), error = function(e) "")
  version <- regmatches(said, regexec("^pho v?([0-9]+[.][0-9]+[.][0-9]+)", said))
  version <- if (length(version)) version[[1]][2] else NA
  if (is.na(version)) fail("pho_missing_program", "'", path, "' is not the program pho: it does not answer --version", where, fields = list(command = path))
  if (utils::compareVersion(version, least_version) < 0)
    fail("pho_missing_program", "'", path, "' is pho ", version, ", and this package needs ", least_version, " or later", where, fields = list(command = path))
  path
}

# Runs the program; returns its standard output by lines and what it wrote to standard error.
#   files  what messages call files that the caller has never heard of, by path
run <- function(arguments, files = character(), call = NULL) {
  path <- program()
  said <- tempfile("pho-said-")
  out <- tempfile("pho-out-")
  on.exit(unlink(c(said, out)))
  arguments <- enc2utf8(arguments)
  Encoding(arguments) <- "unknown" # the bytes as they are, whatever the locale
  shell <- if (.Platform$OS.type == "windows") "cmd" else "sh"
  status <- suppressWarnings(system2(path, shQuote(arguments, shell), stdout = out, stderr = said))
  heard <- readLines(said, warn = FALSE, encoding = "UTF-8")
  if (status != 0) {
    message <- spoken(failure(heard), files)
    if (status == 130) message <- "interrupted"
    fail("pho_program_error", if (nzchar(message)) message else paste("the program ended with status", status),
         call = call, fields = list(status = status, arguments = arguments, said = heard))
  }
  list(out = readLines(out, warn = FALSE, encoding = "UTF-8"), said = heard)
}

# The message of a run that failed: that of an event of JSON, or what is written without the program's name.
failure <- function(heard) {
  for (line in grep("\"event\":\"error\"", heard, fixed = TRUE, value = TRUE)) {
    event <- tryCatch(jsonlite::fromJSON(line), error = function(e) NULL)
    if (!is.null(event$message)) return(event$message)
  }
  heard <- heard[!startsWith(heard, "{") & !startsWith(heard, "Run 'pho ")]
  sub("^pho: ", "", paste(heard, collapse = "\n"))
}

# A message of the program for a caller in R: flags are called by the arguments that set them here.
spoken <- function(text, files = character()) {
  for (path in names(files)) {
    text <- gsub(paste0("\"", path, "\""), files[[path]], text, fixed = TRUE)
    text <- gsub(path, files[[path]], text, fixed = TRUE)
  }
  text <- gsub("pho (decompose|apply) has ", "there are ", gsub("unknown flag ", "unknown argument ", text, fixed = TRUE))
  flag <- "(?<![A-Za-z0-9-])--([a-z][a-z-]*)"
  for (n in regmatches(text, gregexpr(flag, text, perl = TRUE))[[1]]) {
    name <- gsub("-", "_", sub("^--", "", n))
    name <- switch(name, input = "inputs", name)
    text <- sub(paste0("(?<![A-Za-z0-9-])", n, "[ =](drop|keep|error|none|auto|robust|rows|projection|hierarchical|fitted|csv|parquet)\\b"),
                paste0(name, " = \"\\1\""), text, perl = TRUE)
    text <- sub(paste0("(?<![A-Za-z0-9-])", n, "[ =]([0-9][0-9.e-]*|\"[^\"]*\"|[A-Z][A-Z=.]*\\b)"), paste0(name, " = \\1"), text, perl = TRUE)
    text <- sub(paste0("(?<![A-Za-z0-9-])", n, "(?![a-z])"), name, text, perl = TRUE)
  }
  text
}

# Arguments of R as flags: underscores become dashes, TRUE stands alone, several values repeat the flag, names are those of NAME=value.
flags <- function(options) {
  if (length(options) && (is.null(names(options)) || any(!nzchar(names(options)))))
    fail("pho_program_error", "arguments in '...' need names: they are the flags of the program, as smoothing = \"ml\"")
  unlist(lapply(names(options), function(name) {
    value <- options[[name]]
    flag <- paste0("--", gsub("_", "-", name, fixed = TRUE))
    if (is.null(value) || identical(value, FALSE)) return(NULL)
    if (isTRUE(value)) return(flag)
    text <- if (is.list(value)) vapply(value, function(v) paste(digits(v), collapse = ","), "") else digits(value)
    if (!is.null(names(value))) text <- paste0(names(value), "=", text)
    paste0(flag, "=", text)
  }))
}

# Numbers with all their digits, other values as text.
digits <- function(value) if (is.numeric(value) && !is.integer(value)) sprintf("%.17g", value) else as.character(value)

# Names as a line of CSV.
listed <- function(names) paste0("\"", gsub("\"", "\"\"", names, fixed = TRUE), "\"", collapse = ",")
