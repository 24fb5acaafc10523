# Tests of read_pho.R: Rscript r/tests/test_read_pho.R, with the program's path in PHO
# (`make check-r`). Needs jsonlite; mgcv, the peer, comes with R.

arguments <- commandArgs(FALSE)
here <- dirname(sub("^--file=", "", grep("^--file=", arguments, value = TRUE)))
root <- normalizePath(file.path(here, "..", ".."))
source(file.path(root, "r", "read_pho.R"))
pho <- normalizePath(Sys.getenv("PHO", "pho"))
options(warn = 2, pho.command = pho)
work <- tempfile("pho-r-")
dir.create(work)
setwd(work)

count <- 0
test <- function(what, code) {
  force(code)
  count <<- count + 1
  cat("ok   ", what, "\n", sep = "")
}
near <- function(a, b, most) {
  worst <- max(abs(a - b))
  if (!isTRUE(worst <= most)) stop(sprintf("differs by %g, more than %g", worst, most))
}
fails <- function(code, pattern) {
  said <- tryCatch({ force(code); NULL }, error = conditionMessage)
  if (is.null(said) || !grepl(pattern, said)) stop("expected an error with '", pattern, "', got: ", said)
}
run <- function(...) {
  said <- suppressWarnings(system2(pho, shQuote(c(...)), stdout = TRUE, stderr = TRUE))
  if (!is.null(attr(said, "status"))) stop(paste(said, collapse = "\n"))
}

# A table with numbers, a factor and an awkward name; a network that has seen it.
set.seed(1)
n <- 1500
rows <- data.frame(x = round(runif(n, -2, 3), 3), z = round(rnorm(n), 3), "area (m2)" = round(rexp(n), 3),
                   region = sample(c("north", "south", "a,b \"c\""), n, TRUE), check.names = FALSE)
rows$y <- sin(2 * rows$x) + 0.4 * rows$z * rows$x + (rows$region == "south") + rnorm(n) / 5
write.csv(rows, "rows.csv", row.names = FALSE)
run("train", "--data", "rows.csv", "--kind", "mlp", "--response", "y", "--deep", "x,z,region,area (m2)", "--epochs", "15", "--out", "net")
run("decompose", "--model", "net/model.onnx", "--data", "rows.csv", "--contributions", "csv", "--out", "result",
    "--formula", "y ~ s(x, k = 12, bs = \"cr\") + s(z, by = region) + ti(x, z, k = 4) + region + `area (m2)`")
d <- read_pho("result")
parts <- read.csv("result/contributions.csv", check.names = FALSE)
terms <- predict(d, type = "terms")

test("stored contributions are the file's, and sum to the network's output", {
  near(terms[, "s(x)"], parts[["s(x)"]], 0)
  near(rowSums(terms) + attr(terms, "constant"), fitted(d), 1e-9)
  near(fitted(d), parts$eta, 0)
  near(residuals(d), parts$unstructured, 0)
  stopifnot(length(fitted(d)) == nobs(d), identical(colnames(predict(d, type = "terms", terms = "region")), "region"))
})

test("links are the artifact's", {
  stopifnot(identical(d$links$eta, list(name = "identity", of = "mean")), identical(summary(d)$predictors[[1]]$link, "identity"))
  stopifnot(any(grepl("Predictor eta (link identity)", capture.output(print(summary(d))), fixed = TRUE)))
})

test("new rows are explained by the program, to the digit", {
  new <- predict(d, rows[5:40, ], type = "terms", se.fit = TRUE)
  near(new$fit, terms[5:40, ], 0)
  near(predict(d, rows[5:40, ]), fitted(d)[5:40], 0)
  stopifnot(identical(colnames(new$se.fit), setdiff(colnames(terms), "unstructured")), all(new$se.fit[, "area (m2)"] >= 0))
  factors <- transform(rows[1:5, ], region = factor(region), check.names = FALSE)
  names(factors) <- names(rows)
  near(predict(d, factors), fitted(d)[1:5], 0)
})

test("the curve of a smooth goes through the contributions", {
  e <- smooth_estimates(d, "s(x)")
  near(approx(e$x, e$.estimate, rows$x)$y, terms[, "s(x)"], 0.01)
  stopifnot(all(e$.lower_ci <= e$.estimate & e$.estimate <= e$.upper_sim), is.numeric(e$x), identical(e$.type[1], "smooth"))
  all <- smooth_estimates(d)
  stopifnot(setequal(all$.smooth, setdiff(colnames(terms), "unstructured")), is.numeric(all$z), "north" %in% all$region)
})

test("coefficients and the summary", {
  slope <- coef(d)[["area (m2)"]]
  fit <- lm(terms[, "area (m2)"] ~ rows[["area (m2)"]])
  near(slope, coef(fit)[[2]], 1e-9)
  s <- summary(d)
  table <- s$predictors[[1]]$terms
  near(table$estimate[table$term == "area (m2)"], slope, 0)
  stopifnot(identical(table$reasons == "", table$verdict == "identified"))
  near(table$sd_after[1], sqrt(mean(terms[, 1]^2) - mean(terms[, 1])^2), 1e-9)
  new <- predict(d, rows[1:50, ], type = "terms", se.fit = TRUE)$se.fit[, "area (m2)"]
  near(table$se[table$term == "area (m2)"], diff(range(new / sign(rows[["area (m2)"]][1:50] - mean(rows[["area (m2)"]])))) /
         diff(range(rows[["area (m2)"]][1:50])), 1e-6)
  said <- capture.output(print(s), print(d), print(formula(d)))
  stopifnot(any(grepl("Linear terms:", said)), any(grepl("^s\\(x\\)", said)), any(grepl("1,500 rows", said)))
})

test("a result of predictions names their columns, and explains new rows", {
  write.csv(transform(rows, p = plogis(z), check.names = FALSE), "predicted.csv", row.names = FALSE)
  run("decompose", "--data", "predicted.csv", "--predictions", "p", "--link", "logit", "--formula", "~ x + z", "--out", "predictions")
  of <- read_pho("predictions")
  stopifnot(any(capture.output(print(summary(of))) == "Predictions: p"))
  near(predict(of, transform(rows[1:5, ], p = plogis(z), check.names = FALSE)), fitted(of)[1:5], 1e-12)
})

test("plots draw every term", {
  for (style in c("plain", "rich")) {
    grDevices::pdf("plots.pdf")
    if (style == "plain") plot(d) else plot(d, pages = 1, sim = TRUE, shade = FALSE, data = rows, scale = 0, select = c("s(x)", "region"))
    grDevices::dev.off()
    stopifnot(file.size("plots.pdf") > 5000)
  }
  grDevices::pdf("draw.pdf")
  if (requireNamespace("ggplot2", quietly = TRUE)) {
    made <- draw(d)
    stopifnot(length(made) == ncol(terms) - 1)
    print(made)
  } else {
    cat("skip  draw() with ggplot2, which is not installed\n")
    draw(d)
  }
  grDevices::dev.off()
})

page <- readLines(file.path(root, "docs", "r.md"), encoding = "UTF-8")
snippet <- page[(which(page == "```r")[1] + 1):(which(page == "```")[1] - 1)]
test("the snippet of docs/r.md runs", {
  stopifnot(length(snippet) > 8)
  file.copy(file.path(root, "r", "read_pho.R"), work)
  grDevices::pdf("page.pdf")
  world <- new.env(parent = globalenv())
  world$rows <- rows[1:20, ]
  said <- capture.output(source(textConnection(gsub("s(age)", "s(x)", snippet, fixed = TRUE)), local = world, echo = FALSE, print.eval = TRUE))
  grDevices::dev.off()
  stopifnot(any(grepl("All terms:", said)))
})

test("errors say what to do", {
  fails(read_pho(work), "no decomposition.json")
  fails(predict(d, type = "terms", terms = "s(w)"), "no term s\\(w\\); there are s\\(x\\)")
  fails(predict(d, type = "terms", se.fit = TRUE), "newdata = rows")
  fails(predict(d, rows[1:3, "x", drop = FALSE]), "no column")
  fails(smooth_estimates(d, "s(w)"), "no curve of s\\(w\\)")
  fails(plot(d, data = rows[1:3, ]), "3 rows")
  fails(coef(d, predictor = "mu"), "no predictor mu; there are")
  lost <- read_pho("result", pho = "no-such-program")
  fails(predict(lost, rows[1:3, ]), "not found")
  run("decompose", "--model", "net/model.onnx", "--data", "rows.csv", "--contributions", "parquet", "--out", "binary", "--formula", "~ s(x)")
  binary <- read_pho("binary")
  if (requireNamespace("arrow", quietly = TRUE)) near(fitted(binary), fitted(d), 1e-9) else fails(fitted(binary), "--contributions csv")
  near(predict(binary, rows[1:9, ]), fitted(d)[1:9], 0)
})

test("rows with names, and results without contributions, are read", {
  named <- cbind(customer = sprintf("%04d", seq_len(n)), rows)
  write.csv(named, "named.csv", row.names = FALSE)
  arguments <- c("decompose", "--model", "net/model.onnx", "--data", "named.csv", "--id", "customer", "--formula", "~ s(x) + te(x, z, k = 4)")
  run(arguments, "--out", "named")
  run(arguments, "--contributions", "none", "--out", "none")
  with <- read_pho("named")
  stopifnot(identical(names(read.csv("named/contributions.csv", check.names = FALSE))[1], "customer"),
            identical(colnames(predict(with, type = "terms")), c("s(x)", "te(x,z)", "unstructured")))
  near(fitted(with), fitted(d), 1e-9)
  without <- read_pho("none")
  near(predict(without, rows[1:9, ]), fitted(d)[1:9], 0)
  fails(fitted(without), "written without contributions")
  grDevices::pdf("masked.pdf")
  plot(with)
  plot(without)
  grDevices::dev.off()
  surface <- smooth_estimates(with, "te(x,z)")
  blank <- is.na(surface$.estimate) # farther from every row than a tenth of the ranges
  stopifnot(any(blank), !all(blank), !anyNA(surface$x), all(is.na(surface$.lower_ci[blank])))
})

test("results of earlier versions are read", {
  dirs <- dirname(list.files(file.path(root, "testdata", "formats"), "^decomposition[.]json$", recursive = TRUE, full.names = TRUE))
  stopifnot(length(dirs) >= 3)
  for (dir in dirs) {
    said <- paste(capture.output(print(summary(read_pho(dir)))), collapse = "\n")
    for (p in jsonlite::fromJSON(file.path(dir, "decomposition.json"), simplifyVector = FALSE)$predictors) {
      for (t in p$terms) if (!grepl(t$name, said, fixed = TRUE)) stop(dir, ": the summary lacks ", t$name)
    }
  }
})

if (requireNamespace("mgcv", quietly = TRUE)) {
  # PHOGAM of a black box is the penalised additive model of the network's own output.
  run("decompose", "--model", "net/model.onnx", "--data", "rows.csv", "--contributions", "csv", "--out", "additive",
      "--formula", "~ s(x, k = 12, bs = \"cr\") + s(z, k = 9, bs = \"ps\") + `area (m2)`")
  a <- read_pho("additive")
  ours <- predict(a, type = "terms")
  d2 <- transform(rows, eta = fitted(a), area = rows[["area (m2)"]])
  g <- mgcv::gam(eta ~ s(x, k = 12, bs = "cr") + s(z, k = 9, bs = "ps") + area, data = d2, method = "REML")
  theirs <- predict(g, type = "terms")

  test("terms are those of mgcv's gam of the network's output", {
    near(ours[, "s(x)"], theirs[, "s(x)"], 1e-4)
    near(ours[, "s(z)"], theirs[, "s(z)"], 1e-4)
    near(coef(a)[["area (m2)"]], coef(g)[["area"]], 1e-5)
    near(coef(a)[["(Intercept)"]], coef(g)[["(Intercept)"]], 1e-4)
    near(summary(a)$predictors[[1]]$intercept, coef(a)[["(Intercept)"]], 0)
    near(residuals(a), residuals(g), 1e-4)
  })
} else cat("skip  comparison with mgcv, which is not installed\n")

test("several predictors have to be named", {
  # as if they came from a distribution with two parameters
  two <- d
  two$artifact$predictors <- rep(d$artifact$predictors, 2)
  two$artifact$predictors[[2]]$name <- "sigma"
  two$predictors <- c(d$predictors, "sigma")
  fails(fitted(two), "eta, sigma: name one")
  stopifnot(identical(coef(two, predictor = "sigma"), coef(d)))
})

setwd(tempdir())
unlink(work, recursive = TRUE)
cat(sprintf("%d passed, 0 failed\n", count))
