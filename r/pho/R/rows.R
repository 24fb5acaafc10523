# Rows on their way to the program.

# A data frame of any kind as a plain one.
as_rows <- function(data, what = "data") {
  if (!is.data.frame(data))
    fail("pho_data_error", what, " is no data frame but ", paste(class(data), collapse = "/"), if (is.matrix(data)) ": as.data.frame() makes one of a matrix")
  if (nrow(data) == 0) fail("pho_data_error", what, " has no rows")
  data <- as.data.frame(data)
  twice <- unique(names(data)[duplicated(names(data))])
  if (length(twice)) fail("pho_data_error", what, " has two columns called ", some(twice), fields = list(column = twice))
  unnamed <- is.na(names(data)) | !nzchar(names(data))
  if (any(unnamed)) fail("pho_data_error", what, " has a column without a name, number ", which(unnamed)[1])
  data
}

# A column as cells: doubles or texts, and the order of its levels, if it has one. Dates are days, times are seconds, since 1970;
# TRUE is 1.
cells <- function(column, name) {
  bad <- function(...) fail("pho_data_error", "column '", name, "' ", ..., fields = list(column = name))
  if (is.factor(column)) {
    if (anyNA(levels(column)) && anyNA(levels(column)[column]))
      bad("has NA among its levels: give it a name, as levels(x)[is.na(levels(x))] <- \"unknown\", or make it a missing cell: factor(as.character(x))")
    return(list(cells = enc2utf8(as.character(column)), levels = levels(column)[!is.na(levels(column))]))
  }
  if (is.character(column)) return(list(cells = enc2utf8(column)))
  if (inherits(column, "POSIXlt")) column <- as.POSIXct(column)
  if (is.list(column)) bad("is a list, which is neither numbers nor text: leave it out, or make a column for each of its parts")
  if (!is.null(dim(column)) && ncol(column) != 1) bad("is a matrix: make a column for each of its columns")
  if (inherits(column, "integer64")) {
    if (!requireNamespace("bit64", quietly = TRUE)) bad("is integer64, which needs the package bit64")
    return(list(cells = as.double(bit64::as.double.integer64(column))))
  }
  if (is.numeric(column) || is.logical(column) || inherits(column, c("Date", "POSIXct", "difftime"))) return(list(cells = as.double(column)))
  bad("is ", paste(class(column), collapse = "/"), ", which is neither numbers nor text")
}

# Writes a data frame and returns the file and what has to be said of it.
#   text, levels: names of columns of text, and the order of levels by column
write_rows <- function(rows, folder) {
  columns <- Map(cells, rows, names(rows))
  values <- lapply(columns, `[[`, "cells")
  text <- vapply(values, is.character, TRUE)
  writer <- parquet()
  path <- file.path(folder, if (is.null(writer)) "rows.csv" else "rows.parquet")
  if (is.null(writer)) write_csv(values, path) else writer$write(as.data.frame(values, optional = TRUE, stringsAsFactors = FALSE), path)
  list(path = path, text = names(rows)[text], levels = Filter(length, lapply(columns, `[[`, "levels")))
}

# Who reads and writes Parquet, if anybody does.
parquet <- function() {
  if (requireNamespace("arrow", quietly = TRUE))
    return(list(write = function(x, path) arrow::write_parquet(x, path), read = function(path) as.data.frame(arrow::read_parquet(path))))
  if (requireNamespace("nanoparquet", quietly = TRUE))
    return(list(write = function(x, path) nanoparquet::write_parquet(x, path), read = function(path) as.data.frame(nanoparquet::read_parquet(path))))
  NULL
}

# Cells as CSV with all digits. A text that reads as a missing cell cannot be told from one there.
write_csv <- function(values, path) {
  missing <- c("", "NA", "NaN", "nan", "NAN", "null")
  text <- Map(function(v, name) {
    if (is.character(v)) {
      taken <- unique(v[!is.na(v) & v %in% missing])
      if (length(taken))
        fail("pho_data_error", "column '", name, "' has the text \"", taken[1], "\", which CSV cannot tell from a missing cell: name it otherwise, or install ",
             "nanoparquet or arrow, by which texts go over as they are", fields = list(column = name))
      return(ifelse(is.na(v), "", paste0("\"", gsub("\"", "\"\"", v, fixed = TRUE), "\"")))
    }
    ifelse(is.na(v), "", sprintf("%.17g", v))
  }, values, names(values))
  lines <- c(listed(enc2utf8(names(values))), do.call(paste, c(unname(text), sep = ",")))
  if (length(values) == 1) lines[lines == ""] <- "\"\""
  con <- file(path, "wb")
  on.exit(close(con))
  writeLines(lines, con, useBytes = TRUE)
}

# A table that the program wrote.
read_table <- function(path) {
  if (grepl("[.]parquet$", path)) return(parquet()$read(path))
  utils::read.csv(path, check.names = FALSE, na.strings = "", encoding = "UTF-8")
}
