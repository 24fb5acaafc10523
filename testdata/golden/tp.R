# Thin plate regression splines as mgcv constructs and fits them, for package basis.
#
#   Rscript testdata/golden/tp.R        (from the module root; needs mgcv, jsonlite)
#
# Writes testdata/golden/basis/plate.json.gz. Columns of X are compared up to sign;
# scale is smoothCon's S.scale (the S here was not yet divided by it). In fits,
# values are of the centred terms at the given smoothing parameters, on the data and
# at new points, in mgcv's order of blocks; free_score is the REML score at the
# smoothing parameters that mgcv chooses.
suppressPackageStartupMessages({library(mgcv); library(jsonlite)})

set.seed(20233)
rows <- function(m) unname(split(unname(m), row(m)))
frame <- function(n, digits) { f <- function() round(runif(n), digits)
  d <- data.frame(a = round(rbeta(n, 1.3, 2) * 3, digits), b = f(), c = f(), z = round(rnorm(n), 3),
                  g = factor(sample(c("u", "v", "w"), n, TRUE)))
  d$y <- round(sin(3 * d$a) + d$b^2 + 0.5 * d$a * d$c + rnorm(n, 0, 0.2), 4); d }
frames <- list(small = frame(120, 3), ties = frame(200, 1), large = frame(900, 4))
frames$equal <- frames$ties
frames$full <- frame(2000, 5)                     # the most points mgcv takes all of
# Unequal steps: on equally spaced values mgcv's rotation, and with it the scale of
# sp, depends on rounding.
frames$ties$a <- round(frames$ties$a^2, 4); frames$ties$b <- round(frames$ties$b^2, 4)
outside <- data.frame(a = c(-3, -0.4, 3.5, 8), b = c(0.5, 1.7, -0.3, 4), c = c(0.2, 1.1, 0.7, -2), z = c(1, -1, 0.5, 2), g = factor(c("u", "v", "w", "u")))

construction <- function(name, data, text, few = 25, knots = NULL, formula = text) {
  d <- frames[[data]]; spec <- eval(parse(text = text))
  sm <- smooth.construct(spec, d[spec$term], knots)
  sc <- smoothCon(spec, d, knots = knots, absorb.cons = FALSE)[[1]]
  keep <- round(seq(1, nrow(d), length.out = few))
  list(name = name, data = data, formula = gsub("'", '"', formula), k = ncol(sm$X), null = sm$null.space.dim,
       at = keep - 1, X = rows(sm$X[keep, ]), S = rows(sm$S[[1]]), scale = sc$S.scale)
}
constructions <- list(
  construction("one", "small", "s(a)"), construction("twenty", "small", "s(a, k=20)"),
  construction("third", "small", "s(a, m=3)"), construction("first", "small", "s(a, m=1, k=7)"),
  construction("ties", "ties", "s(a, k=8)"), construction("shrink", "small", "s(a, bs='ts')"),
  construction("plane", "small", "s(a, b)"), construction("planeties", "ties", "s(a, b, k=12)"),
  construction("planethird", "small", "s(a, b, m=3, k=20)"), construction("planeshrink", "small", "s(a, b, bs='ts', k=15)"),
  construction("space", "small", "s(a, b, c)"), construction("spacesecond", "small", "s(a, b, c, m=2, k=20)"),
  construction("krylov", "large", "s(b, c, k=40)"), construction("krylovone", "large", "s(a, k=15)"),
  construction("full", "full", "s(b, c)"),
  construction("knots", "small", "s(a, k=5)", knots = list(a = c(2.2, 0.1, 0.5, 1.9, 1.2, 0.9, 2.9)),
               formula = "s(a, k=5, knots=c(2.2,0.1,0.5,1.9,1.2,0.9,2.9))"),
  construction("planeknots", "small", "s(a, b, k=6)", knots = list(a = c(0.1, 1.2, 2, 0.4, 1.5, 1.9), b = c(0.2, 0.9, 0.3, 0.6, 0.1, 0.7)),
               formula = "s(a, b, k=6, knots=c(0.1,0.2, 1.2,0.9, 2,0.3, 0.4,0.6, 1.5,0.1, 1.9,0.7))"))

fit <- function(name, data, text, sp, few = 30) {
  d <- frames[[data]]
  b <- gam(as.formula(text), data = d, sp = sp, method = "REML")
  free <- suppressWarnings(gam(as.formula(text), data = d, method = "REML", control = gam.control(epsilon = 1e-14,
    newton = list(conv.tol = 1e-11, maxNstep = 5, maxSstep = 2, maxHalf = 50, use.svd = FALSE))))
  keep <- round(seq(1, nrow(d), length.out = few))
  at <- rbind(d[keep, names(outside)], outside)
  p <- predict(b, at, type = "terms", se.fit = TRUE)
  list(name = name, data = data, formula = gsub("'", '"', sub("^y ", "", text)), sp = I(sp), at = keep - 1,
       terms = lapply(colnames(p$fit), function(l) list(name = gsub(" ", "", l), values = unname(p$fit[, l]))),
       edf = sum(b$edf), scale = I(sapply(b$smooth, function(s) s$S.scale)), score = as.numeric(b$gcv.ubre),
       free_score = as.numeric(free$gcv.ubre), free_edf = sum(free$edf))
}
fits <- list(
  fit("one", "small", "y ~ s(a)", 0.01), fit("twenty", "small", "y ~ s(a, k=20)", 0.3),
  fit("third", "small", "y ~ s(a, m=3)", 0.02), fit("shrink", "small", "y ~ s(a, bs='ts')", 0.05),
  fit("ties", "ties", "y ~ s(a, k=8) + s(b, k=6)", c(0.1, 2)), fit("equal", "equal", "y ~ s(a, k=8) + s(b, k=6)", c(0.1, 2)), fit("plane", "small", "y ~ s(a, b)", 0.01),
  fit("planeshrink", "ties", "y ~ s(a, b, bs='ts')", 0.03), fit("space", "large", "y ~ s(a, b, c)", 0.001),
  fit("spacesecond", "small", "y ~ s(a, b, c, m=2, k=20)", 0.2), fit("krylov", "large", "y ~ s(b, c, k=40) + s(a)", c(0.05, 0.4)),
  fit("byfactor", "small", "y ~ s(a, k=8, by=g)", c(0.1, 1, 10)), fit("planebyfactor", "large", "y ~ s(a, b, k=15, by=g)", c(0.01, 0.1, 1)),
  fit("bynumeric", "small", "y ~ s(a, b, k=12, by=z)", 0.1), fit("full", "full", "y ~ s(b, c) + s(a)", c(0.01, 0.05)))
meta <- list(generator = "testdata/golden/tp.R", R = R.version.string, mgcv = as.character(packageVersion("mgcv")), seed = 20233)
columns <- function(d) list(a = d$a, b = d$b, c = d$c, z = d$z, g = as.character(d$g), y = d$y)
text <- toJSON(list(meta = meta, data = lapply(frames, columns), outside = columns(cbind(outside, y = 0)), constructions = constructions, fits = fits),
             digits = I(17), auto_unbox = TRUE)
# gzfile writes no time and no name, so equal content is equal bytes.
con <- gzfile("testdata/golden/basis/plate.json.gz", "wb", compression = 9)
writeLines(text, con); close(con)
