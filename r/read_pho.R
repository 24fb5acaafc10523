# Reads what `pho decompose` wrote, and treats it like a fitted gam: print, summary, predict,
# coef, fitted, residuals, plot, smooth_estimates, draw.
#
#   source("read_pho.R")
#   d <- read_pho("result")
#   summary(d); plot(d, pages = 1); head(predict(d, type = "terms"))
#   predict(d, newdata = new_rows)          # calls the program pho
#
# One file; needs base R (3.6 or later) and the package jsonlite. ggplot2 is used by draw() and
# arrow by contributions in Parquet, where they are installed.

#' Read a decomposition
#'
#' @param dir   directory that `pho decompose` wrote
#' @param model the network's file, where it is not where it was; only `predict()` of new rows
#'              needs it
#' @param pho   the program, for new rows: a path or a name on PATH. Default: option `pho.command`,
#'              else environment variable PHO, else "pho"
#' @return an object of class "pho": `artifact` (decomposition.json as lists), `effects` (a data
#'   frame: curves on grids), `predictors` (names), `links` (by predictor: `name`, and where they are
#'   not 0, 1 and 1 `shift`, `scale` and `beta`, of shift + scale h(beta eta)/beta with h the link's
#'   inverse; `of`, what that is; NULL: not known), `dir`. Everything is on the scale of the
#'   predictor (link), and for every row intercept + terms + unstructured = eta, the network's
#'   own output.
read_pho <- function(dir, model = NULL, pho = getOption("pho.command", Sys.getenv("PHO", "pho"))) {
  file <- file.path(dir, "decomposition.json")
  if (!file.exists(file)) stop(sprintf("'%s' is no decomposition: it has no decomposition.json", dir), call. = FALSE)
  if (!requireNamespace("jsonlite", quietly = TRUE))
    stop("read_pho() needs the package jsonlite: install.packages(\"jsonlite\")", call. = FALSE)
  artifact <- jsonlite::fromJSON(file, simplifyVector = FALSE)
  if (!identical(substr(.pho_or(artifact$format, ""), 1, 18), "pho.decomposition/"))
    stop(sprintf("'%s' is no decomposition: its format is %s", file, .pho_or(artifact$format, "not named")), call. = FALSE)
  structure(
    list(artifact = artifact, effects = .pho_effects(file.path(dir, "effects.csv")),
         predictors = vapply(artifact$predictors, function(p) p$name, ""),
         links = stats::setNames(lapply(artifact$predictors, function(p) p$link), vapply(artifact$predictors, function(p) p$name, "")),
         dir = normalizePath(dir), model = model, pho = pho),
    class = "pho")
}

.pho_or <- function(value, default) if (is.null(value)) default else value

# The table of effects, numbers as numbers; x and x2 stay text, as they hold levels of factors.
.pho_effects <- function(path) {
  if (!file.exists(path)) return(NULL)
  table <- utils::read.csv(path, colClasses = "character", check.names = FALSE, na.strings = character(), encoding = "UTF-8")
  for (name in setdiff(names(table), c("predictor", "term", "stage", "x", "x2", "member")))
    table[[name]] <- as.numeric(ifelse(table[[name]] == "", NA, table[[name]]))
  table
}

# The predictor of a name or number.
.pho_predictor <- function(object, predictor) {
  if (is.null(predictor)) {
    if (length(object$predictors) > 1)
      stop("there are several predictors, ", paste(object$predictors, collapse = ", "), ": name one as predictor =", call. = FALSE)
    predictor <- 1
  }
  k <- if (is.character(predictor)) match(predictor, object$predictors) else predictor
  if (length(k) != 1 || is.na(k) || k < 1 || k > length(object$predictors))
    stop("no predictor ", predictor, "; there are ", paste(object$predictors, collapse = ", "), call. = FALSE)
  object$artifact$predictors[[k]]
}

.pho_terms <- function(p) vapply(p$terms, function(t) t$name, "")

print.pho <- function(x, ...) {
  cat("Decomposition of ", .pho_or(x$artifact$model$path, "a network"), " over ", format(x$artifact$rows, big.mark = ","), " rows\n", sep = "")
  for (p in x$artifact$predictors) {
    share <- 100 * p$variance$structured / p$variance$total
    cat(sprintf("  %s: %d terms explain %.1f %% of its variance\n", p$name, length(p$terms), share))
  }
  invisible(x)
}

nobs.pho <- function(object, ...) object$artifact$rows

formula.pho <- function(x, ...) unlist(x$artifact$formulas)

#' Coefficients of the terms after orthogonalization, in the raw coordinates of their bases
#'
#' @return a named vector, the intercept first; those of a term count from 1. As in mgcv the intercept belongs to
#'   slopes and levels as they are, and to centred smooths; the artifact's own is that of terms which are all centred
coef.pho <- function(object, predictor = NULL, ...) {
  p <- .pho_predictor(object, predictor)
  values <- lapply(p$terms, function(t) {
    v <- unlist(t$beta) + unlist(t$alpha)
    names(v) <- if (length(v) == 1) t$name else paste0(t$name, ".", seq_along(v))
    v
  })
  c("(Intercept)" = .pho_intercept(p), unlist(values))
}

# The intercept that belongs to slopes and levels, which the artifact has centred.
.pho_intercept <- function(p) {
  centred <- vapply(p$terms, function(t) if (t$kind %in% c("linear", "factor")) .pho_or(t$center, 0) else 0, 0)
  p$intercept - sum(centred)
}

#' A summary in the layout of mgcv
#'
#' There are no p values: the rows' noise is not what a decomposition is about. `sd` is how far a
#' term moves the predictor over the rows, `verdict` whether the rows determine it, `reasons`
#' the kinds of reasons why not. The intercept is that of coef().
summary.pho <- function(object, ...) {
  a <- object$artifact
  predictors <- lapply(a$predictors, function(p) {
    rows <- lapply(p$terms, function(t) {
      known <- t$kind == "linear" && length(t$beta) == 1
      data.frame(term = t$name, kind = t$kind, edf = t$edf,
                 estimate = if (known) unlist(t$beta) + unlist(t$alpha) else NA,
                 se = if (known) .pho_slope_se(object, p$name, t$name) else NA,
                 sd_before = sqrt(t$before$variance), sd_after = sqrt(t$after$variance),
                 verdict = .pho_or(t$verdict, if (isTRUE(t$identified)) "identified" else "sum"),
                 reasons = paste(vapply(t$reasons, function(r) r$kind, ""), collapse = ", "), stringsAsFactors = FALSE)
    })
    share <- unlist(p$variance) / p$variance$total
    list(name = p$name, link = p$link$name, intercept = .pho_intercept(p), terms = do.call(rbind, rows), edf = p$edf, scale = p$scale,
         share = share, share_before = p$variance_before$structured / p$variance_before$total)
  })
  structure(list(model = a$model$path, of = .pho_model(a$model), family = a$family, formula = formula(object), method = a$method, smoothing = a$smoothing,
                 n = a$rows, prediction = a$prediction, predictors = predictors, warnings = unlist(a$warnings)),
            class = "summary.pho")
}

# The standard error of a slope: that of the line at both ends of its range, which a centred line
# crosses between.
.pho_slope_se <- function(object, predictor, term) {
  e <- object$effects
  if (is.null(e)) return(NA)
  e <- .pho_mean(e[e$predictor == predictor & e$term == term & e$stage == "after", ])
  if (nrow(e) < 2) return(NA)
  x <- as.numeric(e$x)
  ends <- c(which.min(x), which.max(x))
  sum(e$se[ends]) / diff(x[ends])
}

# Without the rows of single networks.
.pho_mean <- function(e) if (is.null(e$member)) e else e[e$member == "", ]

# What was decomposed: a network's file, or columns of predictions.
.pho_model <- function(model) {
  columns <- unlist(c(model$predictions, lapply(model$members, function(m) m$predictions)))
  if (length(columns)) paste("Predictions:", paste(columns, collapse = ", ")) else paste("Network:", .pho_or(model$path, "unknown"))
}

print.summary.pho <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  if (!is.null(x$family)) cat("\nFamily: ", x$family, " (of the response)\n", sep = "")
  cat(x$of, "\n", sep = "")
  if (length(x$formula)) cat("\nFormula:\n", paste0(x$formula, "\n"), sep = "")
  for (p in x$predictors) {
    cat("\nPredictor ", p$name, if (!is.null(p$link)) paste0(" (link ", p$link, ")"), "\n", sep = "")
    linear <- p$terms[!is.na(p$terms$estimate), ]
    table <- cbind(Estimate = c(p$intercept, linear$estimate), "Std. Error" = c(NA, linear$se))
    rownames(table) <- c("(Intercept)", linear$term)
    cat("\nLinear terms:\n")
    print(signif(table, digits), na.print = "")
    cat("\nAll terms:\n")
    shown <- data.frame(edf = round(p$terms$edf, 3), "sd before" = signif(p$terms$sd_before, digits),
                        "sd after" = signif(p$terms$sd_after, digits), verdict = p$terms$verdict, check.names = FALSE)
    rownames(shown) <- p$terms$term
    print(shown)
    cat(sprintf("\nStructured part = %.1f%% of the variance (%.1f%% before), unstructured = %.1f%%, twice covariance = %.1f%%\n",
                100 * p$share[["structured"]], 100 * p$share_before, 100 * p$share[["unstructured"]], 100 * p$share[["twice_covariance"]]))
    cat("total edf = ", format(p$edf, digits = digits), "   Scale est. = ", format(p$scale, digits = digits), "\n", sep = "")
  }
  cat(toupper(.pho_or(x$smoothing, x$method)), "   n = ", x$n, sep = "")
  r2 <- .pho_or(x$prediction$r2, NA)
  if (!is.na(r2)) cat("   R-sq. of the network's prediction = ", format(r2, digits = digits), sep = "")
  cat("\n")
  for (w in x$warnings) cat(strwrap(paste("Warning:", w), exdent = 2), sep = "\n")
  invisible(x)
}

#' Contributions of rows
#'
#' @param newdata a data frame of new rows: their contributions come from the program pho, with the
#'   coefficients and the centring of the decomposition. NULL: the stored ones of the rows that
#'   were decomposed.
#' @param type    "link": the network's own output; "terms": a matrix of the terms and of
#'   "unstructured", what no term explains, with the intercept as attribute "constant", as mgcv
#'   has it: rowSums + constant = link
#' @param predictor name or number, needed where there are several
#' @param terms   which columns of type "terms"; NULL: all
#' @param se.fit  with type "terms" and newdata: a list of `fit` and `se.fit`, standard errors of
#'   the terms given the network
#' @param ...     further flags of `pho apply` by name: na = "keep"
predict.pho <- function(object, newdata = NULL, type = c("link", "terms"), predictor = NULL, terms = NULL, se.fit = FALSE, ...) {
  type <- match.arg(type)
  p <- .pho_predictor(object, predictor)
  if (se.fit && (is.null(newdata) || type != "terms"))
    stop("standard errors are those of terms of new rows: predict(newdata = rows, type = \"terms\", se.fit = TRUE)", call. = FALSE)
  parts <- if (is.null(newdata)) .pho_stored(object) else .pho_apply(object, newdata, c(list(...), se = if (se.fit) TRUE))
  prefix <- if (length(object$predictors) > 1) paste0(p$name, ".") else ""
  if (type == "link") return(parts[[paste0(prefix, "eta")]])
  chosen <- if (is.null(terms)) c(.pho_terms(p), "unstructured") else terms
  absent <- setdiff(chosen, c(.pho_terms(p), "unstructured"))
  if (length(absent)) stop("no term ", paste(absent, collapse = ", "), "; there are ", paste(.pho_terms(p), collapse = ", "), call. = FALSE)
  fit <- as.matrix(parts[paste0(prefix, chosen)])
  dimnames(fit) <- list(NULL, chosen)
  attr(fit, "constant") <- p$intercept
  if (!se.fit) return(fit)
  named <- setdiff(chosen, "unstructured")
  se <- as.matrix(parts[paste0(prefix, named, ".se")])
  dimnames(se) <- list(NULL, named)
  list(fit = fit, se.fit = se)
}

.pho_stored <- function(object) {
  csv <- file.path(object$dir, "contributions.csv")
  if (file.exists(csv)) return(.pho_table(csv))
  parquet <- file.path(object$dir, "contributions.parquet")
  if (!file.exists(parquet))
    stop("'", object$dir, "' was written without contributions: give the rows as newdata =", call. = FALSE)
  if (!requireNamespace("arrow", quietly = TRUE))
    stop("the contributions are in Parquet, which needs the package arrow: decompose with --contributions csv, or give the rows as newdata =", call. = FALSE)
  as.data.frame(arrow::read_parquet(parquet))
}

.pho_table <- function(path) utils::read.csv(path, check.names = FALSE, na.strings = "", encoding = "UTF-8")

# The parts of new rows, by the program.
.pho_apply <- function(object, rows, options) {
  folder <- tempfile("pho-")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  data <- file.path(folder, "rows.csv")
  out <- file.path(folder, "parts.csv")
  .pho_write(rows, data)
  if (!is.null(object$model)) options$model <- object$model
  flags <- vapply(names(options), function(n) {
    flag <- paste0("--", gsub("_", "-", n, fixed = TRUE))
    if (isTRUE(options[[n]])) flag else paste0(flag, "=", options[[n]])
  }, "")
  arguments <- c("apply", paste0("--decomposition=", object$dir), paste0("--data=", data), paste0("--out=", out), flags)
  program <- Sys.which(object$pho)
  if (!nzchar(program))
    stop("new rows need the program pho, and '", object$pho, "' is not found: set options(pho.command = ) to its path", call. = FALSE)
  said <- suppressWarnings(system2(program, shQuote(arguments), stdout = TRUE, stderr = TRUE))
  if (!is.null(attr(said, "status"))) stop(paste(said, collapse = "\n"), call. = FALSE)
  .pho_table(out)
}

# A data frame as CSV with all digits.
.pho_write <- function(rows, path) {
  if (!is.data.frame(rows)) stop("newdata is no data frame", call. = FALSE)
  cells <- lapply(rows, function(column) {
    if (!is.numeric(column)) return(as.character(column))
    ifelse(is.na(column), NA, sprintf("%.17g", column))
  })
  utils::write.csv(as.data.frame(cells, stringsAsFactors = FALSE, optional = TRUE), path, row.names = FALSE, na = "", quote = TRUE, fileEncoding = "UTF-8")
}

#' The network's own predictor of the rows that were decomposed (on the link scale)
fitted.pho <- function(object, predictor = NULL, ...) predict(object, type = "link", predictor = predictor)

#' What no term explains of the network's predictor: eta - intercept - terms. These are residuals
#' of the decomposition, on the link scale, not those of the response.
residuals.pho <- function(object, predictor = NULL, ...)
  unname(predict(object, type = "terms", predictor = predictor, terms = "unstructured")[, 1])

#' Curves of the terms on grids, in the layout of gratia's function of this name
#'
#' @param term names of terms; NULL: all that have a grid
#' @param stage "after" orthogonalization or "before"
#' @return a data frame: .smooth, .type, .estimate, .se, .lower_ci, .upper_ci (pointwise 95 %),
#'   .lower_sim, .upper_sim (the whole curve), and a column for each feature of the terms
smooth_estimates <- function(object, ...) UseMethod("smooth_estimates")

smooth_estimates.pho <- function(object, term = NULL, predictor = NULL, stage = c("after", "before"), ...) {
  stage <- match.arg(stage)
  p <- .pho_predictor(object, predictor)
  curves <- lapply(.pho_chosen(object, p, term), function(t) {
    e <- .pho_grid(object, p, t, stage)
    out <- data.frame(.smooth = t$name, .type = t$kind, .estimate = e$value, .se = e$se, .lower_ci = e$lower, .upper_ci = e$upper,
                      .lower_sim = .pho_or(e$lower_sim, NA), .upper_sim = .pho_or(e$upper_sim, NA), stringsAsFactors = FALSE)
    out[[t$features[[1]]]] <- e$x
    if (!is.null(e$x2)) out[[t$features[[2]]]] <- e$x2
    out
  })
  all <- unique(unlist(lapply(curves, names)))
  do.call(rbind, lapply(curves, function(c) {
    for (n in setdiff(all, names(c))) c[[n]] <- NA
    c[all]
  }))
}

# The terms of these names (NULL: all that have a grid).
.pho_chosen <- function(object, p, names) {
  if (is.null(object$effects)) stop("'", object$dir, "' has no effects.csv", call. = FALSE)
  if (is.numeric(names)) names <- .pho_terms(p)[names]
  known <- unique(object$effects$term[object$effects$predictor == p$name])
  absent <- setdiff(names, known)
  if (length(absent)) stop("no curve of ", paste(absent, collapse = ", "), "; there are those of ", paste(known, collapse = ", "), call. = FALSE)
  Filter(function(t) t$name %in% if (is.null(names)) known else names, p$terms)
}

# A term's grid, x and x2 as numbers unless they are levels; x2 is NULL of one feature.
.pho_grid <- function(object, p, term, stage) {
  e <- object$effects
  e <- .pho_mean(e[e$predictor == p$name & e$term == term$name & e$stage == stage, ])
  e$x <- .pho_axis(e$x, term, 1)
  if (all(e$x2 == "")) e$x2 <- NULL else e$x2 <- .pho_axis(e$x2, term, 2)
  e
}

.pho_axis <- function(text, term, i) {
  levels <- if (i == 1) term$spec$levels else NULL
  values <- suppressWarnings(as.numeric(text))
  if (is.null(levels) && term$kind != "random" && !anyNA(values)) values else factor(text, levels = unique(text))
}

#' Plots of the terms, in the manner of mgcv
#'
#' Curves with their band over a histogram of the rows, factors as points with intervals, surfaces
#' as images with contours (empty where the file has no value).
#'
#' @param select numbers or names of terms; NULL: all that have a grid
#' @param before the network's own curve, dashed
#' @param sim    the band that holds the whole curve with probability 0.95, not point by point
#' @param shade  a shaded band, else lines
#' @param rug    the histogram of the rows
#' @param data   the rows that were decomposed, in their order: adds partial residuals (term +
#'   unstructured); needs stored contributions
#' @param scale  -1: one range for all curves; 0: each its own
#' @param pages  0: as the device is laid out; 1: all on one page
plot.pho <- function(x, select = NULL, predictor = NULL, before = TRUE, sim = FALSE, shade = TRUE, rug = TRUE, data = NULL,
                     scale = -1, pages = 0, ylim = NULL, ...) {
  p <- .pho_predictor(x, predictor)
  terms <- .pho_chosen(x, p, select)
  if (pages > 0) {
    old <- graphics::par(mfrow = grDevices::n2mfrow(ceiling(length(terms) / pages)), mar = c(4, 4, 2, 1))
    on.exit(graphics::par(old))
  }
  curves <- lapply(terms, function(t) .pho_curve(x, p, t, sim))
  parts <- if (!is.null(data)) predict(x, type = "terms", predictor = p$name)
  if (is.null(ylim) && scale == -1) ylim <- range(0, unlist(lapply(curves, function(c) if (is.null(c$x2)) c(c$lower, c$upper, c$value))), na.rm = TRUE)
  for (i in seq_along(terms)) {
    t <- terms[[i]]
    if (!is.null(curves[[i]]$x2)) {
      .pho_surface(t, curves[[i]], ...)
      next
    }
    residuals <- if (!is.null(data)) .pho_partial(t, data, parts)
    own <- if (before) .pho_own(x, p, t)
    .pho_line(t, curves[[i]], own, residuals, shade, if (rug) .pho_counts(x, t$features[[1]]), ylim, ...)
  }
  invisible(x)
}

.pho_curve <- function(object, p, term, sim) {
  e <- .pho_grid(object, p, term, "after")
  if (sim && !is.null(e$lower_sim)) e[c("lower", "upper")] <- e[c("lower_sim", "upper_sim")]
  e
}

# The network's own curve; NULL if it is zero, as that of a black box.
.pho_own <- function(object, p, term) {
  e <- .pho_grid(object, p, term, "before")
  if (any(e$value != 0, na.rm = TRUE)) e
}

# Points of term + unstructured, of a curve by a factor those of its level.
.pho_partial <- function(term, data, parts) {
  if (nrow(data) != nrow(parts)) stop("data has ", nrow(data), " rows, the decomposition's contributions ", nrow(parts), call. = FALSE)
  keep <- if (is.null(term$spec$by$level)) TRUE else as.character(data[[term$spec$by$column]]) == term$spec$by$level
  list(x = data[[term$features[[1]]]][keep], y = (parts[, term$name] + parts[, "unstructured"])[keep])
}

.pho_counts <- function(object, feature) Find(function(f) f$name == feature, object$artifact$features)

.pho_line <- function(term, e, own, residuals, shade, feature, ylim, main = term$name, xlab = term$features[[1]], ylab = "effect", col = "grey30", ...) {
  levels <- if (is.factor(e$x)) levels(e$x)
  at <- as.numeric(e$x)
  inside <- is.finite(e$value)
  if (is.null(ylim)) ylim <- range(0, e$value, e$lower, e$upper, residuals$y, na.rm = TRUE)
  if (is.null(levels)) xlim <- range(at) else xlim <- c(0.5, length(levels) + 0.5)
  graphics::plot(xlim, ylim, type = "n", xlim = xlim, ylim = ylim, main = main, xlab = xlab, ylab = ylab, xaxt = if (is.null(levels)) "s" else "n", ...)
  if (!is.null(levels)) graphics::axis(1, seq_along(levels), levels)
  .pho_histogram(feature, is.null(levels))
  if (!is.null(residuals)) graphics::points(if (is.null(levels)) residuals$x else match(as.character(residuals$x), levels), residuals$y, pch = 20, cex = 0.3, col = "grey60")
  banded <- inside & is.finite(e$lower)
  if (!is.null(levels)) {
    graphics::segments(at[banded], e$lower[banded], at[banded], e$upper[banded], lwd = 2)
    graphics::points(at, e$value, pch = 19)
    if (!is.null(own)) graphics::points(at, own$value, pch = 1, col = col)
    return(invisible())
  }
  if (shade && any(banded)) graphics::polygon(c(at[banded], rev(at[banded])), c(e$lower[banded], rev(e$upper[banded])), col = grDevices::adjustcolor("steelblue", 0.3), border = NA)
  if (!shade && any(banded)) graphics::matlines(at, e[c("lower", "upper")], lty = 2, col = 1)
  if (!is.null(own)) graphics::lines(at, own$value, lty = 2, col = col)
  graphics::lines(at, e$value, lwd = 1.5)
}

# Where the rows are: bars along the lower edge, of a factor one for each level.
.pho_histogram <- function(feature, numeric) {
  counts <- unlist(feature$counts)
  if (is.null(counts) || !max(counts) || numeric != is.null(feature$levels)) return(invisible())
  edge <- graphics::par("usr")
  height <- 0.12 * (edge[4] - edge[3]) * counts / max(counts)
  breaks <- seq(feature$min, feature$max, length.out = length(counts) + 1)
  left <- if (numeric) breaks[-length(breaks)] else seq_along(counts) - 0.3
  right <- if (numeric) breaks[-1] else seq_along(counts) + 0.3
  graphics::rect(left, edge[3], right, edge[3] + height, col = "grey85", border = NA)
}

# Contours over an image; x varies slowest in the file.
.pho_surface <- function(term, e, main = term$name, xlab = term$features[[1]], ylab = term$features[[2]], ...) {
  x <- unique(e$x)
  y <- unique(e$x2)
  z <- matrix(e$value, length(x), length(y), byrow = TRUE)
  if (!any(is.finite(z))) z[] <- 0
  most <- max(abs(z), 1e-300, na.rm = TRUE)
  graphics::image(as.numeric(x), as.numeric(y), z, zlim = c(-most, most), col = grDevices::hcl.colors(41, "Blue-Red 3"), main = main, xlab = xlab, ylab = ylab,
                  xaxt = if (is.factor(x)) "n" else "s", yaxt = if (is.factor(y)) "n" else "s", ...)
  if (is.factor(x)) graphics::axis(1, seq_along(x), levels(x))
  if (is.factor(y)) graphics::axis(2, seq_along(y), levels(y))
  varied <- diff(range(z, na.rm = TRUE)) > 0
  if (varied && length(x) > 1 && length(y) > 1) graphics::contour(as.numeric(x), as.numeric(y), z, add = TRUE)
}

#' Plots of the terms with ggplot2; without it, plot() on one page
#'
#' @return a list of ggplots by term, which prints all on one page
draw <- function(object, ...) UseMethod("draw")

draw.pho <- function(object, select = NULL, predictor = NULL, before = TRUE, sim = FALSE, ...) {
  if (!requireNamespace("ggplot2", quietly = TRUE)) {
    plot(object, select = select, predictor = predictor, before = before, sim = sim, pages = 1, ...)
    return(invisible(NULL))
  }
  p <- .pho_predictor(object, predictor)
  terms <- .pho_chosen(object, p, select)
  plots <- lapply(terms, function(t) .pho_ggplot(t, .pho_curve(object, p, t, sim), if (before) .pho_own(object, p, t)))
  names(plots) <- vapply(terms, function(t) t$name, "")
  structure(plots, class = "pho_plots")
}

.pho_ggplot <- function(term, e, own) {
  value <- lower <- upper <- x <- x2 <- NULL # columns of the tables, for checkers of code
  g <- ggplot2::ggplot(e, ggplot2::aes(x, value)) + ggplot2::labs(title = term$name, x = term$features[[1]], y = "effect")
  if (!is.null(e$x2)) {
    return(ggplot2::ggplot(e, ggplot2::aes(x, x2, fill = value)) + ggplot2::geom_tile() +
             ggplot2::scale_fill_gradient2(low = "#2166ac", high = "#b2182b", na.value = "transparent") +
             ggplot2::labs(title = term$name, x = term$features[[1]], y = term$features[[2]], fill = "effect"))
  }
  if (is.factor(e$x)) {
    if (!is.null(own)) g <- g + ggplot2::geom_point(data = own, shape = 1, colour = "grey50")
    if (any(is.finite(e$lower))) g <- g + ggplot2::geom_linerange(ggplot2::aes(ymin = lower, ymax = upper), na.rm = TRUE)
    return(g + ggplot2::geom_point(na.rm = TRUE))
  }
  if (!is.null(own)) g <- g + ggplot2::geom_line(data = own, linetype = "dashed", colour = "grey50")
  if (any(is.finite(e$lower))) g <- g + ggplot2::geom_ribbon(ggplot2::aes(ymin = lower, ymax = upper), alpha = 0.25, na.rm = TRUE)
  g + ggplot2::geom_line()
}

print.pho_plots <- function(x, ...) {
  shape <- grDevices::n2mfrow(length(x))
  grid::grid.newpage()
  grid::pushViewport(grid::viewport(layout = grid::grid.layout(shape[1], shape[2])))
  for (i in seq_along(x)) {
    place <- grid::viewport(layout.pos.row = (i - 1) %/% shape[2] + 1, layout.pos.col = (i - 1) %% shape[2] + 1)
    print(x[[i]], vp = place)
  }
  grid::popViewport()
  invisible(x)
}
