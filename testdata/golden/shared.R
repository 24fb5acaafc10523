# One smoothing parameter for several responses, from mgcv.
#
#   Rscript testdata/golden/shared.R [OUTFILE]      (from the module root; make golden)
#
# mgcv fits one response. So the responses are stacked, their columns are blocks of one
# design, and each penalty is the sum of its blocks: one lambda, one scale. Responses
# that sum to zero are K-1 dimensional: mgcv gets their K-1 orthonormal contrasts.
suppressPackageStartupMessages({ library(mgcv); library(jsonlite) })
args <- commandArgs(trailingOnly = TRUE)
out <- if (length(args) == 1) args[1] else "testdata/golden/shared.json"
set.seed(14)
n <- 90; K <- 3
d <- data.frame(a = round(runif(n), 3), b = round(rnorm(n), 3))
smooth <- function(v) {
  s <- smoothCon(s(v, bs = "cr", k = 7), data = data.frame(v = v), absorb.cons = TRUE)[[1]]
  list(X = round(s$X, 5), S = s$S[[1]])
}
A <- smooth(d$a); B <- smooth(d$b)
X <- cbind(1, A$X, B$X)
p <- ncol(X)
place <- function(S, at) { P <- matrix(0, p, p); P[at, at] <- S; P }
penalties <- list(place(A$S, 1 + seq_len(ncol(A$X))), place(B$S, 1 + ncol(A$X) + seq_len(ncol(B$X))))
Z <- cbind(sin(6 * d$a) + d$b, cos(4 * d$a) - 0.3 * d$b^2, d$a^2 + sin(2 * d$b)) + matrix(rnorm(n * K, 0, 0.4), n)
Z <- round(Z, 4)
w <- round(runif(n, 0.3, 2), 3)

stacked <- function(Z, w, method) {
  m <- ncol(Z)
  big <- kronecker(diag(m), X)
  y <- as.vector(Z)
  S <- lapply(penalties, function(P) kronecker(diag(m), P))
  data <- list(y = y, big = big, w = rep(w, m))
  control <- gam.control(epsilon = 1e-14, mgcv.tol = 1e-13, newton = list(conv.tol = 1e-11, maxNstep = 5, maxSstep = 2, maxHalf = 50, use.svd = FALSE))
  b <- gam(y ~ big - 1, paraPen = list(big = S), weights = w, data = data, method = method, control = control)
  sp <- as.vector(b$sp)
  # At these sp once more: the coefficients may be of another iterate.
  f <- gam(y ~ big - 1, paraPen = list(big = c(S, list(sp = sp))), weights = w, data = data, method = method, control = control)
  list(method = tolower(sub("[.]Cp", "", method)), sp = sp, score = as.vector(f$gcv.ubre), edf = sum(f$edf), scale = f$sig2,
       coefficients = matrix(coef(f), p))
}
contrasts <- contr.helmert(K)
contrasts <- contrasts %*% diag(1 / sqrt(colSums(contrasts^2)))
centred <- Z - rowMeans(Z)
cases <- list()
for (method in c("REML", "ML", "GCV.Cp")) for (weighted in c(FALSE, TRUE)) {
  ww <- if (weighted) w else rep(1, n)
  one <- stacked(Z, ww, method)
  two <- stacked(Z %*% contrasts, ww, method)
  two$coefficients <- two$coefficients %*% t(contrasts)     # of the centred responses
  cases <- c(cases, list(c(list(name = "independent", weighted = weighted), one),
                         c(list(name = "centred", weighted = weighted), two)))
}
text <- toJSON(list(provenance = list(R = R.version.string, mgcv = as.character(packageVersion("mgcv")), seed = 14,
                    script = "testdata/golden/shared.R"),
                    X = X, penalties = penalties, Z = Z, w = w, cases = cases),
               digits = I(15), auto_unbox = TRUE)
writeLines(text, out)
