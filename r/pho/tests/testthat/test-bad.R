rows <- table_of(200)
y <- truth(rows)

test_that("rows of any kind of data frame are taken", {
  skip_without_program()
  d <- coef(pho(~ x + size, rows, y))
  skip_if_not_installed("tibble")
  expect_identical(coef(pho(~ x + size, tibble::as_tibble(rows), y)), d)
  skip_if_not_installed("data.table")
  expect_identical(coef(pho(~ x + size, data.table::as.data.table(rows), y)), d)
})

test_that("columns of other types go over, or are errors that name them", {
  skip_without_program()
  rows$when <- as.POSIXct("2024-01-01", tz = "UTC") + 3600 * seq_len(nrow(rows))
  rows$day <- as.Date("2024-01-01") + seq_len(nrow(rows)) %% 30
  rows$lt <- as.POSIXlt(rows$when)
  rows$yes <- rows$x > 0
  d <- pho(~ when + day + yes, rows, y)
  near(coef(d)[["yes"]], coef(lm(truth ~ as.numeric(when) + as.numeric(day) + yes, cbind(rows, truth = y)))[["yesTRUE"]], 1e-9)
  rows$list <- as.list(seq_len(nrow(rows)))
  expect_error(pho(~ list, rows, y), "column 'list' is a list", class = "pho_data_error")
  expect_error(pho(~ ., rows, y), "column 'list' is a list", class = "pho_data_error")
  expect_identical(nobs(pho(~ x, rows, y)), 200L) # no term reads it
  rows$matrix <- matrix(0, nrow(rows), 2)
  expect_error(pho(~ matrix, rows, y), "column 'matrix' is a matrix", class = "pho_data_error")
  rows$complex <- complex(real = rows$x)
  expect_error(pho(~ complex, rows, y), "is complex", class = "pho_data_error")
  rows$size[3] <- NA
  rows$size <- addNA(rows$size)
  expect_error(pho(~ size, rows, y), "NA among its levels", class = "pho_data_error")
  skip_if_not_installed("bit64")
  rows$big <- bit64::as.integer64(seq_len(nrow(rows)))
  near(coef(pho(~ big, rows, y))[["big"]], coef(lm(y ~ seq_along(y)))[[2]], 1e-12)
})

test_that("awkward names and levels go over", {
  skip_without_program()
  area <- "\u00e4rea d'or"
  names(rows)[1:2] <- c("a \"b\", c", area)
  rows$text <- rep(c("x,y", "it's \"so\"", "\u6f22"), length.out = nrow(rows))
  d <- pho(as.formula(substitute(~ s(`a "b", c`) + area + text, list(area = as.name(area)))), rows, y)
  expect_identical(colnames(predict(d, type = "terms"))[1:2], c("s(a \"b\", c)", area))
  expect_identical(names(coef(d))[2], area)
  near(predict(d, rows[1:5, ], predictions = y[1:5]), y[1:5], 1e-15)
  if (is.null(pho:::parquet())) {
    rows$text[1] <- "NA"
    expect_error(pho(~ text, rows, y), "cannot tell from a missing cell", class = "pho_data_error")
  }
})

test_that("rows and predictions that cannot be are errors", {
  skip_without_program()
  expect_error(pho(~ x, rows[0, ], y[0]), "has no rows", class = "pho_data_error")
  expect_error(pho(~ x, as.matrix(rows["x"]), y), "no data frame", class = "pho_data_error")
  expect_error(pho(~ x, rows), "model is missing", class = "pho_model_error")
  expect_error(pho(~ x, model = y), "data is missing", class = "pho_data_error")
  expect_error(pho(~ x, rows, y[-1]), "are of 199 rows, and there are 200", class = "pho_model_error")
  expect_error(pho(~ x, rows, function(r) 1), "returns predictions of 1 rows", class = "pho_model_error")
  expect_error(pho(~ x, rows, function(r) letters), "predicts classes", class = "pho_model_error")
  expect_error(pho(~ x, rows, function(r) stop("broken")), "broken")
  expect_error(pho(~ x, rows, replace(y, 7, NA)), "are NA of row 7", class = "pho_model_error")
  expect_identical(tryCatch(pho(~ x, rows, replace(y, 7, NA)), pho_model_error = function(e) e$rows), 7L)
  expect_error(pho(~ x, rows, replace(y, 7, Inf), na = "drop"), "Inf", class = "pho_model_error")
  expect_error(pho(~ x, rows, "no/such.onnx"), "no file 'no/such.onnx'", class = "pho_model_error")
  expect_error(pho(w ~ x, rows, y), "no column \"w\"", class = "pho_error")
  expect_error(pho(~ s(w), rows, y), "w", class = "pho_error")
  expect_error(pho(~ s(x, k = nothing), rows, y), "object 'nothing' not found", class = "pho_error")
  twice <- rows
  names(twice)[2] <- "x"
  expect_error(pho(~ x, twice, y), "two columns called 'x'", class = "pho_data_error")
  rows$x[4] <- NA
  missing <- expect_error(pho(~ x, rows, y), "row 4", class = "pho_program_error")
  expect_identical(missing$status, 1L)
  expect_match(conditionMessage(missing), "na = \"drop\"", fixed = TRUE)
  d <- pho(~ x, rows, y, na = "drop")
  expect_identical(which(is.na(fitted(d))), 4L)
})

test_that("arguments that are none are errors in R's words", {
  skip_without_program()
  wrong <- expect_error(pho(~ x, rows, y, smothing = "ml"), "unknown argument smothing; did you mean smoothing", class = "pho_program_error")
  expect_identical(wrong$status, 2L)
  expect_error(pho(~ x, rows, y, smoothing = "best"), "smoothing", class = "pho_program_error")
  expect_error(predict(pho(~ x, rows, y), rows["z"], predictions = y), "no column \"x\"", class = "pho_program_error")
  expect_error(predict(pho(~ x, rows, y), se.fit = TRUE), "type = \"terms\"", class = "pho_error")
})

test_that("a program that is not there, or is another one, is an error", {
  old <- options(pho.command = "no-such-program")
  on.exit(options(old))
  expect_error(pho(~ x, rows, y), "'no-such-program' is not found; option pho.command", class = "pho_missing_program")
  skip_on_os("windows")
  other <- tempfile()
  writeLines(c("#!/bin/sh", "echo pho 0.0.9"), other)
  Sys.chmod(other, "755")
  options(pho.command = other)
  expect_error(pho(~ x, rows, y), "is pho 0.0.9, and this package needs 0.1.0", class = "pho_missing_program")
  writeLines(c("#!/bin/sh", "echo hello"), other)
  expect_error(pho(~ x, rows, y), "is not the program pho", class = "pho_missing_program")
})
