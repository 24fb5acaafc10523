#' @importFrom stats coef confint family fitted formula nobs predict residuals vcov
NULL
