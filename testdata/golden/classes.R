# Log-likelihoods of classes, from mgcv and MASS on real data that R brings.
#
#   Rscript testdata/golden/classes.R [OUTFILE]      (from the module root; make golden)
#
# Needs R with mgcv, MASS and jsonlite.
suppressPackageStartupMessages({ library(mgcv); library(MASS); library(jsonlite) })
args <- commandArgs(trailingOnly = TRUE)
out <- if (length(args) == 1) args[1] else "testdata/golden/classes.json"

# Classes: mgcv::multinom has a predictor for each class but the first.
glass <- fgl[fgl$type %in% c("WinF", "WinNF", "Veh", "Head"), ]
glass$k <- as.integer(droplevels(glass$type)) - 1
b <- gam(list(k ~ s(RI, k = 5) + Mg, ~ Mg + Al, ~ Mg + Al), family = multinom(K = 3), data = glass)
# multinom's own ll counts 1 too much for every row of the first class (1.8-41), so the
# probabilities that it predicts are taken.
p <- predict(b, type = "response")
multinom <- list(data = "MASS::fgl", y = glass$k, eta = predict(b), loglik = sum(log(p[cbind(seq_len(nrow(glass)), glass$k + 1)])),
                 ll = b$family$ll(glass$k, model.matrix(b), coef(b), rep(1, nrow(glass)), b$family)$l)

# The same rows with one linear formula for all classes, in units in which training is quick.
x <- data.frame(k = glass$k, RI = glass$RI, Mg = glass$Mg, Al = glass$Al)
l <- gam(list(k ~ RI + Mg + Al, ~ RI + Mg + Al, ~ RI + Mg + Al), family = multinom(K = 3), data = x, control = list(epsilon = 1e-12))
p <- predict(l, type = "response")
linear <- list(data = "MASS::fgl", y = x$k, RI = x$RI, Mg = x$Mg, Al = x$Al, eta = predict(l), loglik = sum(log(p[cbind(seq_len(nrow(x)), x$k + 1)])))

# Ordered classes: cumulative logits, with numbers of repetitions as weights.
p <- polr(Sat ~ Infl + Type + Cont, weights = Freq, data = housing, control = list(reltol = 1e-15, maxit = 2000))
polr <- list(data = "MASS::housing", y = as.integer(housing$Sat), w = housing$Freq, eta = as.vector(p$lp),
             cuts = as.vector(p$zeta), loglik = as.numeric(logLik(p)))
long <- housing[rep(seq_len(nrow(housing)), housing$Freq), ]
long$z <- as.integer(long$Sat)
o <- gam(z ~ Infl + Type + Cont, family = ocat(R = 3), data = long)
first <- match(rownames(housing), sub("[.][0-9]+$", "", rownames(long)))
keep <- !is.na(first)
ocat <- list(data = "MASS::housing", y = as.integer(housing$Sat)[keep], w = housing$Freq[keep], eta = as.vector(predict(o)[first[keep]]),
             cuts = o$family$getTheta(TRUE), loglik = as.numeric(logLik(o)))
text <- toJSON(list(provenance = list(R = R.version.string, mgcv = as.character(packageVersion("mgcv")),
                    MASS = as.character(packageVersion("MASS")), script = "testdata/golden/classes.R"),
                    multinom = multinom, linear = linear, polr = polr, ocat = ocat), digits = I(17), auto_unbox = TRUE)
writeLines(text, out)
