rows <- table_of()
rows$area <- rows[["area (m2)"]]

test_that("lm and glm are split on their scales", {
  skip_without_program()
  fit <- lm(y ~ x + size, rows)
  d <- pho(y ~ x + size, rows, fit)
  near(coef(d), coef(fit), 1e-9)
  near(residuals(d), 0 * residuals(d), 1e-9)
  rows$big <- as.numeric(rows$y > 1.5)
  for (link in c("logit", "cloglog", "probit")) {
    odds <- glm(big ~ x + size + area, binomial(link), rows)
    d <- pho(big ~ x + size + area, rows, odds)
    near(coef(d), coef(odds), 1e-6) # of probabilities near 0 and 1 the link gives back ten digits
    near(fitted(d), predict(odds), 1e-6)
    if (link != "probit") near(predict(d, rows[1:9, ], type = "response"), predict(odds, rows[1:9, ], type = "response"), 1e-9)
    expect_match(d$artifact$family, if (link == "probit") "gaussian" else "binomial")
  }
  counts <- glm(round(exp(y)) ~ x, poisson(), rows)
  near(coef(pho(~ x, rows, counts)), coef(counts), 1e-9)
})

test_that("gam: terms are those of mgcv's gam of the predictions", {
  skip_without_program()
  skip_if_not_installed("mgcv")
  g <- mgcv::gam(y ~ te(x, z) + s(area) + size, data = rows, method = "REML")
  d <- pho(y ~ s(x, k = 12, bs = "cr") + s(z, bs = "ps") + area + size, rows, g)
  rows$eta <- as.vector(predict(g))
  near(fitted(d), rows$eta, 1e-15)
  peer <- mgcv::gam(eta ~ s(x, k = 12, bs = "cr") + s(z, bs = "ps") + area + size, data = rows, method = "REML")
  ours <- predict(d, type = "terms")
  theirs <- predict(peer, type = "terms")
  # Both stop searching smoothing parameters where REML is flat: curves agree to 1e-4 of effects of size 1.
  near(ours[, "s(x)"], theirs[, "s(x)"], 1e-4)
  near(ours[, "s(z)"], theirs[, "s(z)"], 1e-4)
  near(ours[, "area"], theirs[, "area"] - mean(theirs[, "area"]), 1e-4)
  near(ours[, "size"], theirs[, "size"] - mean(theirs[, "size"]), 1e-4)
  near(residuals(d), residuals(peer), 1e-4)
  near(coef(d), coef(peer)[names(coef(d))], 1e-4)
  if (requireNamespace("generics", quietly = TRUE)) near(generics::tidy(d)$edf[1:2], summary(peer)$edf, 1e-2)
  bands <- pho(~ s(x, k = 12, bs = "cr") + s(z, bs = "ps") + area + size, rows, g, bands = "projection")
  near(predict(bands, rows[1:50, ], type = "terms", se.fit = TRUE)$se.fit[, "s(x)"], predict(peer, rows[1:50, ], type = "terms", se.fit = TRUE)$se.fit[, "s(x)"], 1e-3)

  rows$n <- rpois(nrow(rows), exp(rows$eta / 3))
  counts <- mgcv::gam(n ~ s(x), family = mgcv::nb(), data = rows)
  d <- pho(~ s(x), rows, counts)
  near(fitted(d), as.vector(predict(counts)), 1e-9)
  near(predict(d, rows[1:5, ], type = "response"), as.vector(predict(counts, rows[1:5, ], type = "response")), 1e-9)
  two <- pho(list(eta1 = ~ s(x), eta2 = ~ x), rows, mgcv::gam(list(y ~ s(x) + size, ~ s(x)), family = mgcv::gaulss(), data = rows))
  expect_length(two$predictors, 2)
  expect_identical(dim(predict(two)), c(600L, 2L))
  expect_error(coef(two), "several predictors", class = "pho_error")
  expect_named(coef(two, predictor = 2), c("(Intercept)", "x"))
})

test_that("networks and trees of nnet and rpart", {
  skip_without_program()
  skip_if_not_installed("nnet")
  set.seed(1)
  net <- nnet::nnet(y ~ x + z + size, rows, size = 5, linout = TRUE, trace = FALSE)
  near(fitted(pho(y ~ s(x) + s(z) + size, rows, net)), as.vector(predict(net, rows)), 1e-12)
  rows$class <- cut(rows$y, 3, labels = c("a", "b", "c"))
  multi <- nnet::multinom(class ~ x + z, rows, trace = FALSE)
  d <- pho(~ x + z, rows, multi)
  expect_identical(d$predictors, c("a", "b", "c"))
  near(predict(d, rows[1:20, ], type = "response"), predict(multi, rows[1:20, ], type = "probs"), 1e-9)
  # Centred over the classes, differences of coefficients to the first class are multinom's.
  own <- sapply(d$predictors, function(k) coef(d, predictor = k))
  near(t(own[, c("b", "c")] - own[, "a"]), coef(multi), 1e-6)
  two <- nnet::multinom(I(y > 1) ~ x, rows, trace = FALSE)
  near(coef(pho(~ x, rows, two)), coef(two), 1e-6)
  skip_if_not_installed("rpart")
  tree <- rpart::rpart(y ~ x + z + size, rows)
  near(fitted(pho(~ s(x) + size, rows, tree)), as.vector(predict(tree)), 1e-12)
})

test_that("ranger", {
  skip_without_program()
  skip_if_not_installed("ranger")
  forest <- ranger::ranger(y ~ x + z + size, rows, num.trees = 50, seed = 1)
  d <- pho(y ~ s(x) + s(z) + size, rows, forest)
  near(fitted(d), predict(forest, rows)$predictions, 1e-12)
  near(predict(d, rows[1:9, ]), fitted(d)[1:9], 1e-12)
  rows$big <- factor(rows$y > 1.5)
  expect_error(pho(~ x, rows, ranger::ranger(big ~ x + z, rows)), "probability = TRUE", class = "pho_model_error")
  # Deep trees give probabilities of 0 and 1.
  deep <- ranger::ranger(big ~ x + z, rows, probability = TRUE, num.trees = 20, seed = 1, min.node.size = 1)
  expect_warning(d <- pho(~ x + z, rows, deep), "split as they are")
  near(fitted(d), predict(deep, rows)$predictions[, 2], 1e-12)
  clipped <- pho(~ x + z, rows, deep, link = "logit", clip = 1e-3)
  expect_true(all(is.finite(fitted(clipped))))
  small <- ranger::ranger(big ~ x + z, rows, probability = TRUE, num.trees = 200, seed = 1, min.node.size = 150)
  d <- pho(~ x + z, rows, small)
  near(predict(d, rows[1:9, ], type = "response"), predict(small, rows[1:9, ])$predictions[, 2], 1e-9)
})

test_that("files, with their own readers", {
  skip_without_program()
  net <- tempfile("net")
  csv <- tempfile(fileext = ".csv")
  utils::write.csv(rows[c("x", "z", "area", "y")], csv, row.names = FALSE)
  pho:::run(c("train", "--data", csv, "--kind", "mlp", "--response", "y", "--deep", "x,z,area", "--epochs", "5", "--out", net))
  path <- file.path(net, "model.onnx")
  d <- pho(y ~ s(x) + s(z), rows, path)
  near(predict(d, rows[1:9, ]), fitted(d)[1:9], 1e-12)
  expect_output(print(d), "model.onnx")
  near(fitted(pho("y ~ s(x) + s(z)", csv, path)), fitted(d), 1e-6) # write.csv has 15 digits, the network float32
  moved <- file.path(tempdir(), "moved.onnx")
  kept <- write_pho(d, tempfile())
  file.rename(path, moved)
  expect_error(predict(read_pho(kept), rows[1:3, ]), "model", class = "pho_program_error")
  near(predict(read_pho(kept, moved), rows[1:3, ]), fitted(d)[1:3], 1e-12)
})

test_that("boosters", {
  skip_without_program()
  matrix <- as.matrix(rows[c("x", "z", "area")])
  skip_if_not_installed("xgboost")
  booster <- xgboost::xgb.train(list(max_depth = 3), xgboost::xgb.DMatrix(matrix, label = rows$y), nrounds = 20)
  near(fitted(pho(y ~ s(x) + s(z) + s(area), rows, booster)), predict(booster, matrix), 1e-5)
})

test_that("boosters of lightgbm", {
  skip_without_program()
  skip_if_not_installed("lightgbm")
  matrix <- as.matrix(rows[c("x", "z", "area")])
  booster <- lightgbm::lgb.train(list(verbose = -1), lightgbm::lgb.Dataset(matrix, label = rows$y), nrounds = 20)
  near(fitted(pho(y ~ s(x) + s(z) + s(area), rows, booster)), predict(booster, matrix), 1e-9)
})

test_that("any object with predict(), and what is none", {
  skip_without_program()
  curve <- smooth.spline(rows$x, rows$y)
  suppressWarnings(expect_error(pho(~ s(x), rows, curve), class = "pho_model_error"))
  near(fitted(pho(~ s(x), rows, function(r) predict(curve, r$x)$y)), predict(curve, rows$x)$y, 1e-12)
  wiggle <- loess(y ~ x + z, rows)
  near(fitted(pho(~ s(x) + s(z), rows, wiggle)), predict(wiggle, rows), 1e-12)
  both <- pho(~ s(x), rows, function(r) cbind(mu = truth(r), sigma = r$z))
  expect_identical(both$predictors, c("mu", "sigma"))
})

test_that("the response is that of the links", {
  skip_without_program()
  eta <- truth(rows)
  h <- list(log = exp, logit = plogis, cloglog = function(x) 1 - exp(-exp(x / 2)), softplus = function(x) log1p(exp(x)))
  for (link in names(h)) {
    d <- pho(~ s(x), rows, h[[link]](eta), link = link)
    near(predict(d, type = "response"), h[[link]](eta), 1e-9)
  }
})

test_that("gratia draws decompositions", {
  skip_without_program()
  skip_if_not_installed("gratia")
  d <- pho(~ s(x) + s(z), rows, truth)
  expect_setequal(gratia::smooth_estimates(d)$.smooth, c("s(x)", "s(z)"))
})
