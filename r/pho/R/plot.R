# Curves of terms, for plots and tables.

# The terms of these names or numbers, or the only ones of these columns (NULL: all that have a grid).
chosen_terms <- function(d, p, select) {
  known <- unique(d$effects$term[d$effects$predictor == p$name])
  if (is.null(d$effects)) fail("pho_data_error", "the decomposition has no effects.csv")
  if (is.numeric(select)) select <- term_names(p)[select]
  select <- unlist(lapply(select, function(name) {
    own <- Filter(function(t) t$name %in% known && identical(unlist(t$features), name), p$terms)
    if (name %in% known || length(own) != 1) name else own[[1]]$name
  }))
  absent <- setdiff(select, known)
  if (length(absent)) fail("pho_program_error", "no curve of ", some(absent), "; there are those of ", some(known))
  Filter(function(t) t$name %in% or(select, known), p$terms)
}

# A term's grid, x and x2 as numbers unless they are levels; x2 is NULL of one feature.
grid_of <- function(d, p, term, stage = "after", sim = FALSE) {
  e <- d$effects
  e <- e[e$predictor == p$name & e$term == term$name & e$stage == stage, ]
  if (!is.null(e$member)) e <- e[e$member == "", ]
  e$x <- axis_of(d, e$x, term$features[[1]])
  if (all(e$x2 == "")) e$x2 <- NULL else e$x2 <- axis_of(d, e$x2, term$features[[2]])
  if (sim && !is.null(e$lower_sim)) e[c("lower", "upper")] <- e[c("lower_sim", "upper_sim")]
  e
}

# Numbers, unless the feature is a factor, whose levels are in the order of the rows' own, or of the file.
axis_of <- function(d, text, feature) {
  values <- suppressWarnings(as.numeric(text))
  known <- Find(function(f) identical(f$name, feature), d$artifact$features)
  if (is.null(known$levels) && !anyNA(values)) return(values)
  own <- levels(d$data[[feature]])
  factor(text, levels = if (all(text %in% own)) intersect(own, text) else unique(text))
}

# What values of a term become: themselves, or the response where all other terms are at their mean.
on_scale <- function(d, p, type) {
  if (type == "link") return(identity)
  if (identical(d$links[[p$name]]$name, "multinomial logit"))
    fail("pho_program_error", "type = \"response\": probabilities of classes hang on all their predictors, and a curve is of one: take type = \"link\"")
  function(v) if (is.null(v)) NULL else response_of(d, matrix(p$intercept + v, ncol = 1, dimnames = list(NULL, p$name)))[, 1]
}

scaled <- function(e, to) {
  for (name in intersect(c("value", "lower", "upper"), names(e))) e[[name]] <- to(e[[name]])
  e
}

# The model's own curve, before; NULL if it is zero, as that of a black box.
own_curve <- function(d, p, term) {
  e <- grid_of(d, p, term, "before")
  if (any(e$value != 0, na.rm = TRUE)) e
}

# Where rows are: the values of those that the term is about, or quantiles if the rows are not at hand; at most 1,000.
rug_of <- function(d, term, i = 1) {
  feature <- term$features[[i]]
  x <- if (!is.null(d$data[[feature]])) of_level(d$data[[feature]], term, d$data) else unlist(Find(function(f) identical(f$name, feature), d$artifact$features)$quantiles)
  if (is.factor(x) || is.character(x)) return(NULL)
  x <- as.double(x)
  x <- x[is.finite(x)]
  if (length(x) > 1000) unname(stats::quantile(x, seq(0, 1, length.out = 1000))) else x
}

# Of a curve of one level of a factor the rows of that level.
of_level <- function(x, term, rows) if (is.null(term$spec$by$level)) x else x[as.character(rows[[term$spec$by$column]]) == term$spec$by$level]

# Points of term + unstructured over the rows that were decomposed.
partial_residuals <- function(d, term, parts) {
  x <- or(d$data, fail("pho_data_error", "residuals: the rows are not at hand, as of a decomposition that was read"))[[term$features[[1]]]]
  list(x = of_level(x, term, d$data), y = of_level(parts[, term$name] + parts[, "unstructured"], term, d$data))
}

label_of <- function(term) if (term$kind %in% c("smooth", "tensor", "random")) sub("[)](?!.*[)])", sprintf(",%.2f)", term$edf), term$name, perl = TRUE) else term$name

#' Plot the terms, in the manner of mgcv
#'
#' Curves with their band over a rug of the rows, factors as levels with intervals, surfaces as images with contours (empty where there are no rows).
#'
#' @param x a decomposition
#' @param select names or numbers of terms, or names of columns that have one; `NULL`: all
#' @param predictor name or number, of several
#' @param type `"link"`: what a term adds to the predictor; `"response"`: what the response's mean or probability is where all other terms
#'   are at their mean
#' @param scale 0: each panel has its own range; -1: all curves have the same
#' @param pages 0: as the device is laid out, one panel after the other; n: all on n pages
#' @param se draw bands
#' @param sim bands that hold the whole curve with probability 0.95, in place of pointwise ones
#' @param shade bands as areas, else as lines
#' @param rug ticks where the rows are
#' @param residuals add term + unstructured of each row, as points
#' @param before add the curve that the model had by itself, dashed, where it had one
#' @param col,shade.col colours of the curve and of its band
#' @param xlab,ylab,main,xlim,ylim as of [plot.default()]; for all panels
#' @param ... further graphical parameters
#' @return the grids that were drawn, by term, invisibly
#' @export
plot.pho <- function(x, select = NULL, predictor = NULL, type = c("link", "response"), scale = 0, pages = 0, se = TRUE, sim = FALSE, shade = TRUE, rug = TRUE, residuals = FALSE,
                     before = TRUE, col = "black", shade.col = "grey85", xlab = NULL, ylab = NULL, main = "", xlim = NULL, ylim = NULL, ...) {
  p <- predictor_of(x, predictor)
  to <- on_scale(x, p, match.arg(type))
  if (!is.numeric(scale)) fail("pho_program_error", "scale = 0 or -1 says whether panels share a range; the response is type = \"response\"")
  terms <- chosen_terms(x, p, select)
  if (!length(terms)) fail("pho_program_error", "there is no term to plot")
  if (pages > 0) {
    old <- graphics::par(mfrow = grDevices::n2mfrow(ceiling(length(terms) / pages)), mar = c(4.2, 4.2, 1.8, 1))
    on.exit(graphics::par(old))
  }
  grids <- lapply(terms, function(t) scaled(grid_of(x, p, t, sim = sim), to))
  names(grids) <- vapply(terms, function(t) t$name, "")
  parts <- if (residuals) predict.pho(x, type = "terms", predictor = p$name)
  lines <- vapply(grids, function(g) is.null(g$x2), TRUE)
  if (is.null(ylim) && scale == -1 && any(lines)) ylim <- range(unlist(lapply(grids[lines], function(g) c(g$value, if (se) c(g$lower, g$upper)))), na.rm = TRUE)
  for (i in seq_along(terms)) {
    t <- terms[[i]]
    e <- grids[[i]]
    if (!lines[i]) {
      draw_surface(t, e, main = if (nzchar(main)) main else label_of(t), xlab = or(xlab, t$features[[1]]), ylab = or(ylab, t$features[[2]]), rows = if (rug) x$data, middle = to(0), ...)
      next
    }
    if (!se) e$lower <- e$upper <- NA_real_
    points <- if (residuals) partial_residuals(x, t, parts)
    if (residuals) points$y <- to(points$y)
    draw_curve(e, if (before) scaled(own_curve(x, p, t), to), points, if (rug) rug_of(x, t), shade, col, shade.col,
               dates_of(x, t$features[[1]]), main = main, xlab = or(xlab, t$features[[1]]), ylab = or(ylab, label_of(t)), xlim = xlim, ylim = ylim, ...)
  }
  invisible(grids)
}

# What makes dates or times of the numbers that they became; NULL of other columns.
dates_of <- function(d, feature) {
  column <- d$data[[feature]]
  if (inherits(column, "Date")) return(function(x) as.Date(x, origin = "1970-01-01"))
  if (inherits(column, "POSIXct")) return(function(x) as.POSIXct(x, origin = "1970-01-01", tz = or(attr(column, "tzone"), "")))
}

draw_curve <- function(e, own, residuals, rug, shade, col, shade.col, dates, main, xlab, ylab, xlim, ylim, ...) {
  levels <- if (is.factor(e$x)) levels(e$x)
  at <- as.numeric(e$x)
  banded <- is.finite(e$value) & is.finite(e$lower)
  if (is.null(ylim)) ylim <- range(e$value, e$lower, e$upper, residuals$y, own$value, na.rm = TRUE)
  if (is.null(xlim)) xlim <- if (is.null(levels)) range(at) else c(0.5, length(levels) + 0.5)
  graphics::plot(xlim, ylim, type = "n", xlim = xlim, ylim = ylim, main = main, xlab = xlab, ylab = ylab, xaxt = if (is.null(levels) && is.null(dates)) "s" else "n", ...)
  if (!is.null(levels)) graphics::axis(1, seq_along(levels), levels) else if (!is.null(dates)) graphics::Axis(dates(at), side = 1)
  x <- residuals$x
  if (!is.null(levels)) {
    half <- 0.35
    if (shade) graphics::rect(at[banded] - half, e$lower[banded], at[banded] + half, e$upper[banded], col = shade.col, border = NA)
    else for (bound in c("lower", "upper")) graphics::segments(at[banded] - half, e[[bound]][banded], at[banded] + half, e[[bound]][banded], lty = 2, col = col)
    if (!is.null(residuals)) graphics::points(jitter(match(as.character(x), levels), amount = half / 2), residuals$y, pch = ".", col = "grey40")
    if (!is.null(own)) graphics::segments(at - half, own$value, at + half, own$value, lty = 3, col = col)
    graphics::segments(at - half, e$value, at + half, e$value, col = col, lwd = 2)
    return(invisible())
  }
  # Stretches without rows, where the grid is empty, part the band.
  for (stretch in split(which(banded), cumsum(c(1, diff(which(banded)) > 1))[seq_len(sum(banded))])) {
    if (shade) graphics::polygon(c(at[stretch], rev(at[stretch])), c(e$lower[stretch], rev(e$upper[stretch])), col = shade.col, border = NA)
    else graphics::matlines(at[stretch], e[stretch, c("lower", "upper")], lty = 2, col = col)
  }
  if (!is.null(residuals)) graphics::points(as.double(x), residuals$y, pch = ".", col = "grey40")
  if (!is.null(own)) graphics::lines(at, own$value, lty = 3, col = col)
  graphics::lines(at, e$value, col = col)
  if (length(rug)) graphics::rug(rug, quiet = TRUE)
  graphics::box()
}

# Contours over an image.
draw_surface <- function(term, e, main, xlab, ylab, rows, middle, ...) {
  x <- sort(unique(e$x))
  y <- sort(unique(e$x2))
  z <- matrix(NA_real_, length(x), length(y))
  z[cbind(match(e$x, x), match(e$x2, y))] <- e$value
  most <- max(abs(z - middle), 1e-300, na.rm = TRUE)
  graphics::image(as.numeric(x), as.numeric(y), z, zlim = middle + c(-most, most), col = grDevices::hcl.colors(41, "Blue-Red 3"), main = main, xlab = xlab, ylab = ylab,
                  xaxt = if (is.factor(x)) "n" else "s", yaxt = if (is.factor(y)) "n" else "s", ...)
  if (is.factor(x)) graphics::axis(1, seq_along(x), levels(x))
  if (is.factor(y)) graphics::axis(2, seq_along(y), levels(y))
  points <- rows[unlist(term$features)]
  if (!is.null(rows) && !is.factor(x) && !is.factor(y) && nrow(points) <= 5000) graphics::points(as.double(points[[1]]), as.double(points[[2]]), pch = ".", col = "grey30")
  varied <- any(is.finite(z)) && diff(range(z, na.rm = TRUE)) > 0 && !is.factor(x) && !is.factor(y)
  if (varied && length(x) > 1 && length(y) > 1) graphics::contour(as.numeric(x), as.numeric(y), z, add = TRUE)
  graphics::box()
}
