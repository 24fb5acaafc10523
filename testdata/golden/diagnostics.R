# Concurvity and k-check as mgcv has them, for decompose/concurvity_test.go and
# diagnostics/kcheck_test.go. Data: mgcv/data_small.json.
suppressMessages({library(mgcv); library(jsonlite)})
d <- as.data.frame(fromJSON("testdata/golden/mgcv/data_small.json")$columns, stringsAsFactors = TRUE)
formula <- 'y ~ s(x1, bs="ps", k=10, sp=1) + s(x2, bs="cr", k=8, sp=2) + s(z, bs="ps", k=6, sp=1)'
g <- gam(as.formula(formula), data = d, method = "REML")
full <- concurvity(g, full = TRUE); pairs <- concurvity(g, full = FALSE)
set.seed(1); check <- k.check(g, n.rep = 4000)
keep <- colnames(full) != "para"
out <- list(provenance = list(R = R.version.string, mgcv = as.character(packageVersion("mgcv")), script = "testdata/golden/diagnostics.R"),
  formula = formula, terms = gsub(" ", "", colnames(full)[keep]),
  worst = as.numeric(full["worst", keep]), observed = as.numeric(full["observed", keep]), estimate = as.numeric(full["estimate", keep]),
  k_index = as.numeric(check[, "k-index"]), p_value = as.numeric(check[, "p-value"]),
  pairs_worst = unname(pairs$worst[keep, keep]), pairs_observed = unname(pairs$observed[keep, keep]), pairs_estimate = unname(pairs$estimate[keep, keep]))
writeLines(toJSON(out, digits = NA, auto_unbox = TRUE, pretty = TRUE), "testdata/golden/diagnostics/small.json")
