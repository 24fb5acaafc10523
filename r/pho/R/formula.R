# Formulas of R in the program's language (docs/reference/formula.md): products are written out, arguments of smooths have their
# values, names that are no words are in backquotes, and functions of columns become columns.

smooths <- c("s", "te", "ti", "t2")
columns_of <- c("ridge", "onehot", "factor", "ordered", "Surv")

# What a formula says.
#   formulas  texts of --formula; NULL: none was given
#   computed  expressions that are columns of their own, by name
#   offset    name of a column, or NULL
#   response  name of a column, or NULL
#   uses      names of the columns; NULL: all, as for "."
spelled <- function(formula, rows) {
  if (is.null(formula)) return(list())
  if (is.character(formula)) return(list(formulas = formula))
  if (inherits(formula, "formula")) formula <- list(formula)
  if (!is.list(formula) || !all(vapply(formula, inherits, TRUE, "formula")))
    fail("pho_program_error", "formula is ", paste(class(formula), collapse = "/"), ", and neither a formula nor text, nor a list of formulas by predictor, as list(mu = y ~ s(x), sigma = ~ x)")
  own <- Map(function(f, name) {
    f <- spell(f, rows)
    if (nzchar(name)) f$formulas <- paste(name, "=", f$formulas)
    f
  }, formula, or(names(formula), rep("", length(formula))))
  uses <- lapply(own, `[[`, "uses")
  list(formulas = unlist(lapply(own, `[[`, "formulas"), use.names = FALSE), computed = do.call(c, unname(lapply(own, `[[`, "computed"))),
       offset = unlist(lapply(own, `[[`, "offset"))[1], response = unlist(lapply(own, `[[`, "response"))[1], uses = if (!any(vapply(uses, is.null, TRUE))) unique(unlist(uses)))
}

spell <- function(formula, rows) {
  env <- environment(formula)
  computed <- list()
  offset <- NULL
  uses <- character()
  dot <- FALSE

  column <- function(e) {
    if (is.name(e)) {
      name <- as.character(e)
      if (name == ".") {
        dot <<- TRUE
        return(".")
      }
      if (!name %in% names(rows) && grepl("..", name, fixed = TRUE)) { # a range of columns
        dot <<- TRUE
        return(name)
      }
      if (!name %in% names(rows) && exists(name, envir = env, inherits = TRUE) && is_column(get(name, envir = env), rows))
        computed[[name]] <<- list(e, env)
      uses <<- c(uses, name)
      return(named(name))
    }
    if (is.call(e) && deparse1(e[[1]]) %in% columns_of) return(call_of(e))
    if (is.call(e) && identical(e[[1]], as.name("as.factor"))) return(paste0("factor(", column(e[[2]]), ")"))
    if (is.call(e) && identical(e[[1]], as.name(":"))) return(paste0(column(e[[2]]), ":", column(e[[3]])))
    if (!is.call(e)) return(deparse1(e))
    name <- gsub("`", "", deparse1(e), fixed = TRUE)
    computed[[name]] <<- list(e, env)
    uses <<- c(uses, name)
    named(name)
  }

  call_of <- function(e) {
    f <- deparse1(e[[1]])
    arguments <- as.list(e)[-1]
    names <- or(names(arguments), rep("", length(arguments)))
    text <- vapply(seq_along(arguments), function(i) {
      a <- arguments[[i]]
      if (names[i] == "") return(column(a))
      if (names[i] == "by") {
        ordered <- is.name(a) && is.ordered(rows[[as.character(a)]])
        return(paste0("by=", if (ordered) paste0("ordered(", column(a), ")") else column(a)))
      }
      value <- tryCatch(eval(a, env), error = function(problem)
        fail("pho_program_error", "formula: ", names[i], " of ", deparse1(e), ": ", conditionMessage(problem)))
      paste0(names[i], "=", literal(value))
    }, "")
    paste0(f, "(", paste(text, collapse = ", "), ")")
  }

  term <- function(e) {
    if (is.call(e) && deparse1(e[[1]]) %in% smooths) return(call_of(e))
    if (is.call(e) && identical(e[[1]], as.name("offset"))) {
      offset <<- gsub("`", "", column(e[[2]]), fixed = TRUE)
      return(NULL)
    }
    if (is.numeric(e)) return(deparse1(e))
    column(e)
  }

  parts <- lapply(summands(formula[[length(formula)]]), function(part) {
    text <- term(part$term)
    if (!is.null(text)) paste(if (part$plus) "+" else "-", text)
  })
  right <- sub("^\\+ ", "", paste(unique(unlist(parts)), collapse = " "))
  if (!nzchar(right)) right <- "1"
  left <- if (length(formula) == 3) column(formula[[2]])
  response <- if (!is.null(left) && !startsWith(left, "Surv(")) gsub("`", "", left, fixed = TRUE)
  list(formulas = paste(c(left, "~", right), collapse = " "), computed = computed, offset = offset, response = response, uses = if (!dot) unique(uses))
}

# The summands of an expression, products written out: term, and whether it is added.
summands <- function(e, plus = TRUE) {
  operator <- if (is.call(e)) deparse1(e[[1]]) else ""
  if (operator == "(") return(summands(e[[2]], plus))
  if (operator %in% c("+", "-")) {
    own <- if (operator == "+") plus else !plus
    if (length(e) == 2) return(summands(e[[2]], own))
    return(c(summands(e[[2]], plus), summands(e[[3]], own)))
  }
  if (operator %in% c("*", "^", "/", "%in%")) {
    labels <- attr(stats::terms(stats::as.formula(call("~", e)), keep.order = FALSE), "term.labels")
    return(lapply(labels, function(l) list(term = str2lang(l), plus = plus)))
  }
  list(list(term = e, plus = plus))
}

# A column's name, in backquotes unless it is a word.
named <- function(name) if (grepl("^[A-Za-z_][A-Za-z0-9_]*$", name)) name else paste0("`", name, "`")

# A value as the program writes it.
literal <- function(value) {
  if (is.null(value)) return("NULL")
  one <- if (is.character(value)) paste0("\"", value, "\"") else if (is.logical(value)) ifelse(value, "TRUE", "FALSE") else
    if (is.list(value)) vapply(value, literal, "") else sprintf("%.17g", value)
  if (!is.null(names(value))) one <- paste0(names(value), "=", one)
  if (length(value) == 1 && !is.list(value)) one else paste0(if (is.list(value)) "list(" else "c(", paste(one, collapse = ", "), ")")
}

is_column <- function(value, rows) is.atomic(value) && is.null(dim(value)) && length(value) == nrow(rows)

# Rows with the columns that the formula computes.
compute <- function(rows, computed) {
  for (name in names(computed)) {
    value <- tryCatch(eval(computed[[name]][[1]], rows, computed[[name]][[2]]), error = function(problem)
      fail("pho_data_error", "formula: ", name, ": ", conditionMessage(problem), fields = list(column = name)))
    if (inherits(value, "AsIs")) value <- unclass(value)
    if (is.matrix(value) && ncol(value) == 1) value <- value[, 1]
    if (!is.null(dim(value)) || length(value) != nrow(rows))
      fail("pho_data_error", "formula: ", name, " is not one value for each row: a term of it takes a column for each of its parts", fields = list(column = name))
    rows[[name]] <- value
  }
  rows
}
