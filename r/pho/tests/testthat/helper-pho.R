# Tests of what the program does are skipped, and say so, where it is not.
skip_without_program <- function() {
  found <- tryCatch(nzchar(pho:::program()), pho_missing_program = function(e) FALSE)
  skip_if_not(found, "the program pho is on PATH, in PHO_BINARY or in options(pho.command=)")
}

near <- function(a, b, most) {
  expect_true(length(a) == length(b) && all(abs(a - b) <= most), label = sprintf("difference of %.3g at most %.3g", max(abs(a - b)), most))
}

# A table with numbers, a factor in an order of its own and an awkward name, and a function of it.
table_of <- function(n = 600) {
  set.seed(1)
  rows <- data.frame(x = runif(n, -2, 3), z = rnorm(n), "area (m2)" = rexp(n), size = factor(sample(c("low", "mid", "high"), n, TRUE), c("low", "mid", "high")), check.names = FALSE)
  rows$y <- truth(rows) + rnorm(n) / 5
  rows
}

truth <- function(rows) sin(2 * rows$x) + 0.4 * rows$z * rows$x + as.numeric(rows$size) / 2 + rows[["area (m2)"]] / 10
