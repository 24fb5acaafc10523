test_that("results of earlier versions are read", {
  root <- Sys.getenv("PHO_ROOT")
  skip_if(!nzchar(root), "PHO_ROOT is not set: the project's testdata are not at hand")
  skip_without_program()
  dirs <- dirname(list.files(file.path(root, "testdata", "formats"), "^decomposition[.]json$", recursive = TRUE, full.names = TRUE))
  expect_gte(length(dirs), 3)
  for (dir in dirs) {
    d <- read_pho(dir)
    if (!is.null(d$contributions)) for (p in d$artifact$predictors) expect_identical(colnames(predict(d, type = "terms", predictor = p$name))[seq_along(p$terms)], vapply(p$terms, function(t) t$name, ""))
    said <- paste(capture.output(print(d)), collapse = " ")
    for (t in pho:::term_names(d$artifact$predictors[[1]])) expect_true(grepl(t, said, fixed = TRUE), label = t)
    expect_true(all(is.finite(coef(d, predictor = 1))))
  }
})
