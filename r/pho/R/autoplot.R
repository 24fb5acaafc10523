#' Plots of the terms with ggplot2
#'
#' In the manner of gratia, whose `draw()` and `smooth_estimates()` have methods, too.
#'
#' @param object a decomposition
#' @param select,predictor,type,se,sim,rug,residuals,before as of [plot.pho()]
#' @param ncol columns of panels
#' @param ... not used
#' @return a ggplot of one term; of several what patchwork makes of them or, without that package, a list of class `"pho_plots"`, which
#'   prints on one page
#' @exportS3Method ggplot2::autoplot
autoplot.pho <- function(object, select = NULL, predictor = NULL, type = c("link", "response"), se = TRUE, sim = FALSE, rug = TRUE, residuals = FALSE, before = TRUE, ncol = NULL, ...) {
  p <- predictor_of(object, predictor)
  type <- match.arg(type)
  to <- on_scale(object, p, type)
  axis <- if (type == "link") "Partial effect" else paste(or(p$link$of, "response"), "where all else is at its mean")
  terms <- chosen_terms(object, p, select)
  if (!length(terms)) fail("pho_program_error", "there is no term to plot")
  parts <- if (residuals) predict.pho(object, type = "terms", predictor = p$name)
  plots <- lapply(terms, function(t) {
    e <- scaled(grid_of(object, p, t, sim = sim), to)
    if (!se) e$lower <- e$upper <- NA_real_
    if (!is.null(e$x2)) return(ggplot_surface(t, e, to(0), axis))
    points <- if (residuals) partial_residuals(object, t, parts)
    if (residuals) points$y <- to(points$y)
    ggplot_curve(t, e, if (before) scaled(own_curve(object, p, t), to), points, if (rug) rug_of(object, t), dates_of(object, t$features[[1]]), axis)
  })
  names(plots) <- vapply(terms, function(t) t$name, "")
  if (length(plots) == 1) return(plots[[1]])
  if (requireNamespace("patchwork", quietly = TRUE)) return(patchwork::wrap_plots(unname(plots), ncol = ncol))
  structure(plots, class = "pho_plots", ncol = ncol)
}

ggplot_curve <- function(term, e, own, residuals, rug, dates, axis) {
  value <- lower <- upper <- x <- y <- NULL # columns of tables
  banded <- any(is.finite(e$lower))
  made <- or(dates, identity)
  if (!is.factor(e$x)) {
    e$x <- made(e$x)
    if (!is.null(own)) own$x <- made(own$x)
  }
  g <- ggplot2::ggplot(e, ggplot2::aes(x, value)) + ggplot2::labs(title = term$name, x = term$features[[1]], y = axis)
  if (!is.null(residuals)) {
    at <- residuals$x
    points <- data.frame(x = if (is.factor(e$x)) factor(as.character(at), levels(e$x)) else at, y = residuals$y)
    g <- g + ggplot2::geom_point(ggplot2::aes(x, y), data = points, size = 0.3, colour = "steelblue3", alpha = 0.5,
                                 position = if (is.factor(e$x)) ggplot2::position_jitter(0.15, 0) else "identity", na.rm = TRUE)
  }
  if (is.factor(e$x)) {
    if (!is.null(own)) g <- g + ggplot2::geom_point(data = own, shape = 1, colour = "grey50")
    if (banded) return(g + ggplot2::geom_pointrange(ggplot2::aes(ymin = lower, ymax = upper), na.rm = TRUE))
    return(g + ggplot2::geom_point(na.rm = TRUE))
  }
  if (banded) g <- g + ggplot2::geom_ribbon(ggplot2::aes(ymin = lower, ymax = upper), alpha = 0.2, na.rm = TRUE)
  if (!is.null(own)) g <- g + ggplot2::geom_line(data = own, linetype = "dashed", colour = "grey40")
  if (length(rug)) g <- g + ggplot2::geom_rug(ggplot2::aes(x), data = data.frame(x = made(rug)), sides = "b", alpha = 0.5, inherit.aes = FALSE)
  g + ggplot2::geom_line(na.rm = TRUE)
}

ggplot_surface <- function(term, e, middle, axis) {
  value <- x <- x2 <- NULL
  most <- max(abs(e$value - middle), na.rm = TRUE)
  # Grids are closer where there are more rows: cells end halfway between their values.
  edges <- function(v, side) {
    at <- sort(unique(as.numeric(v)))
    if (length(at) == 1) return(rep(at + side / 2, length(v)))
    half <- diff(at) / 2
    (at + if (side < 0) -c(half[1], half) else c(half, half[length(half)]))[match(as.numeric(v), at)]
  }
  cells <- cbind(e, left = edges(e$x, -1), right = edges(e$x, 1), low = edges(e$x2, -1), high = edges(e$x2, 1))
  left <- right <- low <- high <- NULL
  g <- ggplot2::ggplot(e, ggplot2::aes(x, x2)) + (if (is.factor(e$x) || is.factor(e$x2)) ggplot2::geom_blank()) +
    ggplot2::geom_rect(ggplot2::aes(xmin = left, xmax = right, ymin = low, ymax = high, fill = value), data = cells, inherit.aes = FALSE) +
    ggplot2::scale_fill_distiller(palette = "RdBu", limits = middle + c(-most, most), na.value = "transparent") +
    ggplot2::labs(title = term$name, x = term$features[[1]], y = term$features[[2]], fill = sub(" ", "\n", axis))
  if (is.factor(e$x) || is.factor(e$x2)) g else g + ggplot2::geom_contour(ggplot2::aes(z = value), colour = "grey30", na.rm = TRUE)
}

#' @export
print.pho_plots <- function(x, ...) {
  grid <- grDevices::n2mfrow(length(x))
  if (!is.null(attr(x, "ncol"))) grid <- c(ceiling(length(x) / attr(x, "ncol")), attr(x, "ncol"))
  grid::grid.newpage()
  grid::pushViewport(grid::viewport(layout = grid::grid.layout(grid[1], grid[2])))
  for (i in seq_along(x))
    print(x[[i]], vp = grid::viewport(layout.pos.row = (i - 1) %/% grid[2] + 1, layout.pos.col = (i - 1) %% grid[2] + 1))
  grid::popViewport()
  invisible(x)
}

#' @rawNamespace S3method(gratia::draw, pho)
draw.pho <- function(object, ...) autoplot.pho(object, ...)

# Curves of terms in the layout of gratia's function of this name.
#' @rawNamespace S3method(gratia::smooth_estimates, pho)
smooth_estimates.pho <- function(object, select = NULL, predictor = NULL, stage = c("after", "before"), ...) {
  stage <- match.arg(stage)
  p <- predictor_of(object, predictor)
  curves <- lapply(chosen_terms(object, p, select), function(t) {
    e <- grid_of(object, p, t, stage)
    out <- data.frame(.smooth = t$name, .type = t$kind, .by = or(t$spec$by$column, NA_character_), .estimate = e$value, .se = e$se, stringsAsFactors = FALSE)
    out[[t$features[[1]]]] <- e$x
    if (!is.null(e$x2)) out[[t$features[[2]]]] <- e$x2
    out
  })
  all <- unique(unlist(lapply(curves, names)))
  bind(lapply(curves, function(c) {
    for (n in setdiff(all, names(c))) c[[n]] <- NA
    c[all]
  }))
}
